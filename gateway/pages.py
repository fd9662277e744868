"""Page names and page texts as callers give and get them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from cache.errors import InvalidArgument, shown
from cache.model import Page, Project
from sync.forge.base import WIKI

SMALL_ANSWER = 40_000  # code points: up to here a client with the usual output limit takes the whole answer
SMALL_BYTES = 60_000  # bytes of UTF-8 in such an answer
LARGE_BYTES = 200_000  # bytes of UTF-8 where the caller asks for more than SMALL_ANSWER


def clean_slug(slug: str) -> str:
    """A slug as its page is stored: without ``.md``, a leading ``/`` and a leading ``.wiki/``.

    Raises ``InvalidArgument`` for what names no file below ``.wiki/``.
    """
    cleaned = slug.strip().lstrip("/").removeprefix(WIKI).lstrip("/")
    cleaned = cleaned[:-3] if cleaned.lower().endswith(".md") else cleaned
    parts = cleaned.split("/")
    if not cleaned.strip("/"):
        raise InvalidArgument("slug is empty — name a page, such as concepts/caching", argument="slug")
    if ".." in parts or "\\" in cleaned:
        raise InvalidArgument(f"refused: {shown(slug)} leaves .wiki/", argument="slug")
    if cleaned.endswith("/"):
        raise InvalidArgument(f"refused: {shown(slug)} is a directory — name a page in it", argument="slug")
    if "" in parts or "." in parts or any(ord(char) < 32 for char in cleaned):
        raise InvalidArgument(f"refused: {shown(slug)} is no page name", argument="slug")
    return cleaned


def correct_case(slug: str, known: Iterable[str]) -> str | None:
    """The one known slug that differs from ``slug`` by case alone, if exactly one does."""
    folded = slug.casefold()
    fits = [candidate for candidate in known if candidate.casefold() == folded]
    return fits[0] if len(fits) == 1 else None


def page_path(slug: str) -> str:
    """Where a page lies, from the repository's root."""
    return f"{WIKI}{slug}.md"


def page_url(project: Project, slug: str) -> str | None:
    """The page for people, on the default branch; ``None`` where the forge has none (a local repository)."""
    return file_url(project, page_path(slug))


def file_url(project: Project, path: str, branch: str | None = None) -> str | None:
    """The same of any file, by its path from the repository's root, or of one on another branch."""
    if project.url is None:
        return None
    return f"{project.url}/src/branch/{quote(branch or project.repo.default_branch)}/{quote(path)}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text; offsets in code points, ``next_offset`` ``None`` at its end."""

    text: str
    offset: int
    next_offset: int | None
    chars: int


def cut(text: str, *, offset: int, max_chars: int | None) -> Excerpt:
    """At most ``max_chars`` code points (and the bytes that go with that) of ``text`` from ``offset``; ``None``: all.

    It ends at a line end, and inside a line only where that line alone is longer than the bound.
    Raises ``InvalidArgument`` for an offset past the end.
    """
    if offset > len(text):
        raise InvalidArgument(f"offset must be at most {len(text)}, the length of the text", argument="offset")
    if max_chars is None:
        return Excerpt(text[offset:], offset, None, len(text))
    end = offset + _fitting(
        text[offset : offset + max_chars], SMALL_BYTES if max_chars <= SMALL_ANSWER else LARGE_BYTES
    )
    if end < len(text):
        line_end = text.rfind("\n", offset, end) + 1
        end = line_end if line_end > offset else end
    return Excerpt(text[offset:end], offset, end if end < len(text) else None, len(text))


def _fitting(text: str, max_bytes: int) -> int:
    """How many leading code points of ``text`` take at most ``max_bytes`` bytes of UTF-8."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= max_bytes:
        return len(text)
    return len(encoded[:max_bytes].decode("utf-8", "ignore"))


def in_folder(slug: str, pages: Iterable[Page]) -> tuple[str, ...]:
    """A few pages in the folder that ``slug`` names; none if it names no folder."""
    prefix = slug.casefold() + "/"
    return tuple(page.slug for page in pages if page.slug.casefold().startswith(prefix))[:3]
