"""The configuration that ``gateway init`` writes, and what it offers for it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from cache.model import Listed
from gateway import toml_text

OFFERED: Final = 5  # projects
SHARED_WORDS: Final = ("wiki", "handbook", "knowledge", "playbook", "docs", "documentation", "guide", "shared")


@dataclass(frozen=True, slots=True)
class Server:
    """A Gitea or Forgejo server, as the file names it; empty is what it does not name."""

    url: str
    user: str = ""
    token: str = field(default="", repr=False)
    token_file: str = ""
    token_command: str = field(default="", repr=False)
    ca_file: str = ""


@dataclass(frozen=True, slots=True)
class Local:
    """Repositories below some folders."""

    roots: Sequence[str]


def text(forge: Server | Local, shared: str) -> str:
    """The file's content. ``shared`` is the project whose wiki belongs to everybody, or empty."""
    lines = [
        "# The knowledge gateway's configuration. auth.example.toml of its source shows every key with its default."
    ]
    match forge:
        case Server():
            words = {"kind": "gitea", **asdict(forge)}
            lines += ["[forge]", *(f"{key} = {toml_text.string(word)}" for key, word in words.items() if word)]
        case Local(roots):
            lines += ["[forge]", 'kind = "local"', f"roots = {toml_text.array(roots)}"]
    if shared:
        lines += ["", "[wiki]", f"shared = {toml_text.string(shared)}"]
    return "\n".join(lines) + "\n"


def likely_shared(projects: Iterable[Listed]) -> list[Listed]:
    """Those whose name says that their wiki may belong to everybody, the likeliest first."""
    ranked = [
        (rank, len(each.repo.name), each.repo.name, each)
        for each in projects
        if not (each.empty or each.archived or each.fork) and (rank := _rank(each.repo.name)) is not None
    ]
    return [each for *_, each in sorted(ranked, key=lambda entry: entry[:3])][:OFFERED]


def _rank(full_name: str) -> int | None:
    """How well a project is called for that: by its own name, not its owner's."""
    name = full_name.rpartition("/")[2].casefold()
    return next((rank for rank, word in enumerate(SHARED_WORDS) if word in name), None)
