"""The local forge: git repositories below configured folders, read and written in threads, without a git executable.

Naming is ``discovery``'s, reading ``view``'s, writing ``writer``'s. Here is where threads are bounded, and where
whatever a damaged, changing or forbidden repository provokes becomes one of the project's errors.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from anyio import CapacityLimiter, to_thread

from cache.errors import Denied, InvalidArgument, KnowledgeError, NotFound, Unavailable
from cache.model import Listed, ProjectKey, RepoRef, TreeEntry
from sync.files.opening import Oversized
from sync.forge.base import Answer, File, Head, ListingPage, Unchanged
from sync.forge.local.discovery import HOST, Found, Hidden, Place, Roots
from sync.forge.local.files import is_safe
from sync.forge.local.layout import Damaged, NoRepository
from sync.forge.local.recent import Recent
from sync.forge.local.serverless import Serverless
from sync.forge.local.turns import Turns
from sync.forge.writing import Edit, LastChange, Written

if TYPE_CHECKING:
    from sync.forge.local.tree import RecentTrees
    from sync.forge.local.view import View

PAGE: Final = 50  # repositories, and folders that could not be read, in one page of a listing
UNREADABLE: Final = "unreadable"  # the stamp of a repository that cannot be read
PATIENCE: Final = 0.02  # seconds; what is in memory is read in less, and what is not may take as long as it likes
MAX_TREE_ENTRIES: Final = 10_000  # of parsed trees, of about 300 bytes each, that are kept for the next read
MAX_WIKIS: Final = 8  # overlaid wikis that head() worked out, kept for the wiki_tree() that follows

T = TypeVar("T")


class LocalForge(Serverless):
    """The forge ``name`` of the configuration. ``status_paths`` are where STATUS files may be, from a repository's
    root; at most ``max_in_flight`` repositories are read at once."""

    def __init__(
        self, name: str, roots: Sequence[Path], *, status_paths: Sequence[str], max_in_flight: int = 8
    ) -> None:
        """Raises ``NotConfigured`` without roots, ``InvalidArgument`` where two have the same folder name or a status
        path leaves the repository."""
        for path in status_paths:
            if not is_safe(path):
                raise InvalidArgument(f"{path!r} is no path below a repository", argument="status_paths")
        self._name = name
        self._roots = Roots(roots)
        self._status_paths = tuple(status_paths)
        self._limiter = CapacityLimiter(max_in_flight)
        self._turns = Turns(PATIENCE)
        self._trees: RecentTrees = Recent(MAX_TREE_ENTRIES)
        self._wikis: OrderedDict[tuple[int, Head], tuple[TreeEntry, ...]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._name

    @property
    def host(self) -> str:
        return HOST

    async def listing(self) -> AsyncIterator[ListingPage]:
        """Yields pages while it walks. Raises ``Unavailable`` when a root cannot be read."""
        walk = self._roots.walk()
        while (page := await self._in_thread(lambda: self._page(walk))) is not None:
            yield page

    async def find(self, name: str) -> Listed:
        return await self._in_thread(lambda: self._listed(name))

    async def head(self, repo: RepoRef) -> Head | None:
        """The commit of a repository without commits whose working tree can be read all the same is all zeros."""
        found = await self._in_thread(lambda: self._visit(repo.name, lambda view: view.head()))
        if found is None:
            return None
        head, entries = found
        if entries is not None:
            self._wikis[repo.key.id, head] = entries
            if len(self._wikis) > MAX_WIKIS:
                self._wikis.popitem(last=False)
        return head

    async def wiki_tree(self, repo: RepoRef, head: Head) -> tuple[TreeEntry, ...]:
        entries = self._wikis.pop((repo.key.id, head), None)
        if entries is not None:
            return entries
        return await self._in_thread(lambda: self._visit(repo.name, lambda view: view.wiki(head.commit)))

    async def read(
        self, repo: RepoRef, paths: Sequence[str], *, ref: str | None = None, limit: int
    ) -> tuple[Answer, ...]:
        def answers(view: View) -> tuple[Answer, ...]:
            return tuple(view.read(path, ref, limit=limit) for path in paths)

        return await self._in_thread(lambda: self._visit(repo.name, answers))

    async def revalidate(self, repo: RepoRef, path: str, sha: str, *, limit: int) -> Answer | Unchanged:
        (answer,) = await self.read(repo, [path], limit=limit)
        same = isinstance(answer, File) and answer.sha == sha and not answer.uncommitted
        return Unchanged(path, sha) if same else answer

    async def write(self, repo: RepoRef, edit: Edit) -> Written:
        """Into the working tree; nothing is committed. A caller that gives up waits until it is known what was done,
        which takes as long as the disk does and ``writer.LOCK_WAIT`` at most before."""

        def act(view: View) -> Written:
            from sync.forge.local.writer import write  # noqa: PLC0415 (it brings dulwich, as below)

            return write(repo.name, view, edit)

        return await to_thread.run_sync(lambda: self._visit(repo.name, act), limiter=self._limiter)

    async def rehearse(self, repo: RepoRef, edit: Edit) -> None:
        def act(view: View) -> None:
            from sync.forge.local.writer import rehearse  # noqa: PLC0415

            rehearse(repo.name, view, edit)

        await self._in_thread(lambda: self._visit(repo.name, act))

    async def branch_head(self, repo: RepoRef, branch: str) -> str | None:
        def act(view: View) -> str | None:
            from sync.forge.local.branches import branch_head  # noqa: PLC0415

            return branch_head(view.repository, branch)

        return await self._in_thread(lambda: self._visit(repo.name, act))

    async def last_change(self, repo: RepoRef, path: str, *, branch: str | None = None) -> LastChange | None:
        """On the branch that is checked out where ``branch`` is ``None``. ``None`` also where that is too long ago."""

        def act(view: View) -> LastChange | None:
            from sync.forge.local.history import last_change  # noqa: PLC0415

            return last_change(view, path, branch)

        return await self._in_thread(lambda: self._visit(repo.name, act))

    async def aclose(self) -> None:
        """Nothing stays open between calls; what was kept of wikis is let go of."""
        self._wikis.clear()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """A thread that is abandoned closes what it opened when it comes to its end."""
        async with self._turns.taken():
            return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)

    def _page(self, walk: Iterator[Found | Hidden]) -> ListingPage | None:
        projects, hidden = [], []
        for item in (items := list(islice(walk, PAGE))):
            if isinstance(item, Hidden):
                hidden.append(item.name)
                continue
            try:
                projects.append(self._listed(item.name))
            except NotFound:
                continue  # gone since it was found
            except KnowledgeError:
                hidden.append(item.name)
        return ListingPage(tuple(projects), hidden=tuple(hidden)) if items else None

    def _listed(self, name: str) -> Listed:
        """A repository that cannot be read is listed all the same: reading it tells why."""
        with _own_errors(name), self._roots.open(name) as place:
            key = ProjectKey(self._name, place.project_id)
            try:
                with _own_errors(name):
                    signs = self._view(place, lambda view: view.signs())
            except (Denied, Unavailable):
                return Listed(RepoRef(key, name, "HEAD"), UNREADABLE)
            return Listed(RepoRef(key, name, signs.branch or "HEAD"), signs.stamp, signs.updated_at, empty=signs.empty)

    def _visit(self, name: str, act: Callable[[View], T]) -> T:
        with _own_errors(name), self._roots.open(name) as place:
            return self._view(place, act)

    def _view(self, place: Place, act: Callable[[View], T]) -> T:
        # Imported here since dulwich takes as long to import as all else that a server needs to start.
        from sync.forge.local.repo import opened  # noqa: PLC0415
        from sync.forge.local.view import View  # noqa: PLC0415

        with opened(place.folder) as repository:
            return act(View(repository, self._status_paths, self._trees))


@contextmanager
def _own_errors(name: str) -> Iterator[None]:
    """Turn whatever reading the repository ``name`` raises into one of the errors that a forge may raise."""
    try:
        yield
    except KnowledgeError:
        raise
    except NoRepository:
        raise NotFound(f"no repository {name} below the roots") from None
    except Damaged as error:
        raise Unavailable(f"{name} cannot be read: {error}", host=HOST) from error
    except Oversized as error:
        raise Unavailable(f"{name} cannot be read: it has an object of {error.size} bytes", host=HOST) from error
    except PermissionError as error:
        raise Denied(
            f"no permission to read {name} — give the gateway's user access to its files", host=HOST
        ) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Unavailable(f"{name} cannot be read: it changed or went meanwhile", host=HOST) from error
    except OSError as error:
        raise Unavailable(f"{name} cannot be read: {error.strerror or 'input error'}", host=HOST) from error
    except Exception as error:  # dulwich and zlib tell damaged data by any type
        raise Unavailable(f"{name} cannot be read: its git data is damaged", host=HOST) from error
