"""What may be written where, by the configuration. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from cache.errors import Denied
from gateway.settings import Filing, Settings
from gateway.wording import READ_ONLY
from sync.plan import fits, means


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """The sections ``[write]`` and ``[tasks]``, and whether anything is written at all.

    Projects are called ``owner/name``, or ``FORGE:owner/name`` where several forges are configured: what a pattern
    or a name in the configuration says of either counts.
    """

    allow: tuple[str, ...] = ("*",)
    allow_secrets: bool = False
    read_only: bool = False
    filing: Filing = "auto"
    filings: Mapping[str, Filing] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        write, tasks = settings.write, settings.tasks
        return cls(write.allow, write.allow_secrets, settings.gateway.read_only, tasks.filing, tasks.projects)

    def refuse(self, project: str) -> None:
        """Raise ``Denied``, naming the setting, unless ``project`` may be written to."""
        if self.read_only:
            raise Denied(READ_ONLY)
        if not any(fits(name, self.allow) for name in _names(project)):
            raise Denied(f"{project} is not to be written to — add it to [write] allow")

    def filing_of(self, project: str) -> Filing:
        """What a task of ``project`` is filed as; what names it in full outranks what only names its last part."""
        names = _names(project)
        for whole in (True, False):
            for word, filing in self.filings.items():
                if any(means(word, name) and (not whole or "/" in word) for name in names):
                    return filing
        return self.filing


def _names(project: str) -> tuple[str, ...]:
    """A project's name as it is given, and without its forge."""
    forge, colon, name = project.partition(":")
    return (project, name) if colon and "/" not in forge else (project,)
