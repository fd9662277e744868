"""What the commits of a repository on the fake forge did, on whatever branch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.fake_gitea import Repo
from tests.fake_gitea.objects import Commit, Entry


def before(repo: Repo, commit: Commit) -> dict[str, Entry]:
    """The files of the commit that ``commit`` was made on."""
    return dict(repo.objects.commits[commit.parents[0]].snapshot.files) if commit.parents else {}


def blobs(repo: Repo, commit: Commit, path: str) -> tuple[str | None, str | None]:
    """A file before ``commit`` and after it."""
    old, new = before(repo, commit).get(path), commit.snapshot.files.get(path)
    return None if old is None else old.sha, None if new is None else new.sha


def making(repo: Repo, path: str, sha: str) -> list[Commit]:
    """The commits that made the file at ``path`` the blob ``sha``."""
    changes = ((commit, *blobs(repo, commit, path)) for commit in repo.objects.commits.values())
    return [commit for commit, old, new in changes if new == sha != old]


def by(repo: Repo, author: str) -> Iterator[Commit]:
    """The commits of one author, but for the first of all."""
    return (commit for commit in repo.objects.commits.values() if commit.author.name == author and commit.parents)


def lost_lines(repo: Repo, commit: Commit, path: str) -> Counter[str]:
    """The lines that a commit took from the file at ``path``."""
    old, new = (Counter(_lines(repo, sha)) for sha in blobs(repo, commit, path))
    return old - new


def _lines(repo: Repo, sha: str | None) -> list[str]:
    return [] if sha is None else repo.objects.blobs[sha].data.decode().splitlines()
