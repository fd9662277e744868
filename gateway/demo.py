"""A small fleet of real git repositories, for a first look. Content is data; dulwich writes it, so no git is needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dulwich.index import commit_tree
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import HEADREF
from dulwich.repo import Repo

QUESTION: Final = "how do we run yarn on windows"
ASKED: Final = ("web", "payments", "legacy-billing")  # a hit, a miss, and one without a wiki
SHARED: Final = "local/acme/handbook"

_AUTHOR: Final = b"Demo <demo@example.test>"
_DATE: Final = 1_780_000_000  # seconds since the UTC epoch; always the same, so that every demo makes the same commits

FLEET: Final[Mapping[str, Mapping[str, str]]] = {
    "acme/handbook": {
        "README.md": "# Handbook\n\nHow we work, for all teams.\n",
        ".wiki/index.md": """\
# Handbook

## Concepts

- [Release checklist](concepts/release-checklist.md) — what to do before, during and after a release
- [On-call](concepts/on-call.md) — who is called, and what to do then
""",
        ".wiki/concepts/release-checklist.md": """\
# Release checklist

1. The pipeline of `main` is green.
2. The change log names what users will notice.
3. Tag, wait for the packages, then announce it.

If a step fails, stop and ask in the release channel: a half release is worse than a late one.
""",
        ".wiki/concepts/on-call.md": """\
# On-call

The rota changes on Monday at nine. Acknowledge within fifteen minutes, write down what you saw, then mend it.
""",
    },
    "acme/web": {
        "README.md": "# Web\n\nThe shop's front end.\n",
        "STATUS.md": "# Status\n\nMoving the build to workspaces; the checkout page is frozen until that is done.\n",
        ".wiki/index.md": """\
# Web

## Concepts

- [Windows yarn exec](concepts/windows-yarn-exec.md): why scripts fail in PowerShell, and what to run instead
- [Cache keys](concepts/build/cache-keys.md): what invalidates a build

## Packages

- [Design tokens](packages/design-tokens.md)
""",
        ".wiki/concepts/windows-yarn-exec.md": """\
# Windows yarn exec

On Windows, scripts start in `cmd.exe`: quotes, `&&` and `export` mean something else there than in a shell.

## What to do

Start tools through yarn, which brings a portable shell:

```
yarn workspace web exec build
```

Set `script-shell` in CI only: colleagues on other systems would inherit it.
""",
        ".wiki/concepts/build/cache-keys.md": """\
# Cache keys

A build is reused while lock file, compiler version and the files of its package are the same. Environment variables
count only if `turbo.json` lists them.
""",
        ".wiki/packages/design-tokens.md": "# Design tokens\n\nColours, spacing and type, generated from one source.\n",
    },
    "acme/payments": {
        "README.md": "# Payments\n\nThe service that talks to banks.\n",
        ".wiki/index.md": """\
# Payments

| Page | What it says |
|---|---|
| [Idempotency keys](concepts/idempotency-keys.md) | how a retry is told from a second payment |
| [Settlement](concepts/settlement.md) | when money moves |
""",
        ".wiki/concepts/idempotency-keys.md": """\
# Idempotency keys

Every request to a bank carries a key that is kept for thirty days. The same key with another amount is refused.
""",
        ".wiki/concepts/settlement.md": "# Settlement\n\nBatches close at 17:00 UTC; refunds wait for the next one.\n",
    },
    "acme/legacy-billing": {
        "README.md": "# Billing\n\nKept running until its last customer has moved.\n",
        "src/main.c": "int main(void) { return 0; }\n",
    },
}


def make_fleet(root: Path) -> None:
    """Make every repository of the fleet below ``root``, each with its working tree."""
    for name, files in FLEET.items():
        _make_repository(root / name, files)


def _make_repository(path: Path, files: Mapping[str, str]) -> None:
    """A repository whose ``main`` has one commit with ``files``. Nothing of the user's configuration counts."""
    path.mkdir(parents=True)
    with Repo.init(path, default_branch=b"main") as repo:
        blobs = []
        for name, text in files.items():
            blob = Blob.from_string(text.encode())
            repo.object_store.add_object(blob)
            blobs.append((name.encode(), ObjectID(blob.id), 0o100644))
        commit = Commit()
        commit.tree = commit_tree(repo.object_store, blobs)
        commit.author = commit.committer = _AUTHOR
        commit.author_time = commit.commit_time = _DATE
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = b"Write down what we know\n"
        repo.object_store.add_object(commit)
        branch, _ = repo.refs.follow(HEADREF)
        repo.refs.set_if_equals(branch[-1], None, ObjectID(commit.id), committer=_AUTHOR, timestamp=_DATE, timezone=0)
        repo.get_worktree().reset_index()
