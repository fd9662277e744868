"""Projects as callers name them: ``owner/name``, a bare name, or with several forges ``FORGE:owner/name``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cache.errors import Ambiguous, InvalidArgument, KnowledgeError, NotFound
from cache.interface import ReadStore, Resolution
from cache.model import Project

UNKNOWN = "unknown project — run sync first"
SHOWN_CANDIDATES = 10  # names in an error; more help nobody


@dataclass(frozen=True, slots=True)
class Names:
    """How projects are named with these ``forges`` configured."""

    forges: tuple[str, ...]

    def spell(self, project: Project) -> str:
        """A project's name as answers give it."""
        return f"{project.key.forge}:{project.name}" if len(self.forges) > 1 else project.name

    def split(self, word: str) -> tuple[str | None, str]:
        """A caller's word as forge (if it names a configured one) and the rest."""
        prefix, colon, rest = word.partition(":")
        if colon:
            for forge in self.forges:
                if forge.casefold() == prefix.casefold():
                    return forge, rest
        return None, word

    def find(self, word: str, store: ReadStore) -> Project:
        """The one project that ``word`` means. Blocks on the store.

        Raises ``NotFound`` with near names, or ``Ambiguous`` with the candidates.
        """
        meaning = self.find_each([word], store)[word]
        if isinstance(meaning, KnowledgeError):
            raise meaning
        return meaning

    def _spelled(self, names: tuple[str, ...], forge: str | None, store: ReadStore) -> tuple[str, ...]:
        """Near names as answers give them."""
        if len(self.forges) < 2:
            return names
        return tuple(self.spell(project) for name in names for project in store.resolve(name, forge=forge).projects)

    def find_each(self, words: Collection[str], store: ReadStore) -> dict[str, Project | KnowledgeError]:
        """What each word means, or why it means nothing. Blocks on the store."""
        different = list(dict.fromkeys(words))
        asked = [(name, forge) for forge, name in (self.split(word.strip()) for word in different)]
        found = zip(different, asked, store.resolve_each(asked), strict=True)
        return {word: self._meaning(resolution, forge, store) for word, (_, forge), resolution in found}

    def _meaning(self, resolution: Resolution, forge: str | None, store: ReadStore) -> Project | KnowledgeError:
        match resolution.projects:
            case (project,):
                return project
            case ():
                return NotFound(UNKNOWN, suggestions=self._spelled(resolution.suggestions, forge, store))
            case several:
                return Ambiguous("project", tuple(self.spell(project) for project in several[:SHOWN_CANDIDATES]))


def refuse_patterns(words: Collection[str], *, argument: str = "projects") -> None:
    """Raise ``InvalidArgument`` if a word is a pattern: every project is asked by its name."""
    for word in words:
        if "*" in word or "?" in word:
            raise InvalidArgument(f"{argument}: names, not patterns — projects.list shows the names", argument=argument)
        if not word.strip():
            raise InvalidArgument(f"{argument}: a name must not be empty", argument=argument)
