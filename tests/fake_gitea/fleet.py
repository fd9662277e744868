"""Many projects at once, for tests and measurements of a whole fleet."""

from __future__ import annotations

from tests.fake_gitea.forge import FakeGitea

TYPES = ("entities", "concepts", "packages", "sources", "raw")


def add_fleet(forge: FakeGitea, projects: int, *, wikis: int, pages: int = 30, owner: str = "acme") -> None:
    """Add ``projects`` repositories named ``p0000`` and so on, of which ``wikis``, spread evenly, have a wiki of
    ``pages`` pages, an index of them and a STATUS file."""
    for number in range(projects):
        files = {"README.md": f"# Project {number}\n"}
        if (number + 1) * wikis // projects > number * wikis // projects:
            files |= wiki_of(number, pages)
        forge.add_repo(f"{owner}/p{number:04}", files)


def wiki_of(number: int, pages: int) -> dict[str, str]:
    """The files of a wiki whose pages are spread over all types."""
    text = "What there is to say about it. " * 20
    slugs = [f"{TYPES[page % len(TYPES)]}/page-{page}" for page in range(pages)]
    lines = [f"- [Page {page} of {number}]({slug}.md): about topic {page}" for page, slug in enumerate(slugs)]
    return {
        ".tasks/STATUS.md": f"# Status of {number}\n\n- [ ] One task\n",
        ".wiki/index.md": "# Wiki\n\n" + "\n".join(lines) + "\n",
        **{f".wiki/{slug}.md": f"# Page {page} of {number}\n\n{text}\n" for page, slug in enumerate(slugs)},
    }
