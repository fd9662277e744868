"""Fleets of generated repositories to measure on: real ones, made with dulwich."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.support.repos import make_repo

TOPICS = ("caching", "deploys", "yarn on windows", "rate limits", "time zones")
PARAGRAPH = (
    "Every build keeps its keys in one file; whoever changes it tells the others, since nobody reads the log.\n\n"
)


def wiki(pages: int, *, seed: int = 0) -> dict[str, str | bytes]:
    """A repository's files: STATUS.md, an index, and that many pages of about two kilobytes."""
    files: dict[str, str | bytes] = {"STATUS.md": f"# Status\n\nProject {seed} is green.\n"}
    lines = ["# Wiki", "", "## Concepts", ""]
    for number in range(pages):
        topic = TOPICS[(number + seed) % len(TOPICS)]
        title = f"{topic.capitalize()} {number}"
        files[f".wiki/concepts/page-{number}.md"] = f"# {title}\n\nHow we handle {topic} here.\n\n" + PARAGRAPH * 18
        lines.append(f"- [{title}](concepts/page-{number}.md) — what to know about {topic}")
    files[".wiki/index.md"] = "\n".join(lines) + "\n"
    return files


def make_fleet(root: Path, repositories: int, pages: int) -> None:
    """Working repositories ``root/team-N/project-M``."""
    for number in range(repositories):
        make_repo(root / f"team-{number % 10}" / f"project-{number}", wiki(pages, seed=number))


def make_large_fleet(root: Path, repositories: int, pages: int) -> None:
    """Bare repositories, all with the same content, whose objects are one on the disk: thousands in a short time."""
    pattern = make_repo(root / "pattern.git", wiki(pages), bare=True)
    for number in range(repositories - 1):
        shutil.copytree(pattern, root / f"team-{number % 100}" / f"project-{number}.git", copy_function=os.link)
