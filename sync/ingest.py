"""What writing a page into a wiki comes to: which files change and how, by what was read of one moment. Pure.

A page that is there is changed only by who has read it as it is: the caller names its blob. One that already holds
just what is to be written needs no change, whoever wrote it, so that the same call may be repeated after a lost answer.
The index is everybody's; a line is added to whatever it holds by now.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cache.errors import Conflict, InvalidArgument, TooLarge, shown
from cache.model import TreeEntry
from cache.times import timestamp
from sync.forge.base import WIKI, Absent, Answer, File, Refused, TooBig
from sync.forge.blobs import blob_name
from sync.forge.writing import Change, Edit, LastChange
from sync.index_edit import edit_index
from sync.index_style import Entry
from sync.inline import one_line
from sync.line_diff import diff
from sync.page_edit import PageText, compose_page
from sync.slugs import Target, find_target
from sync.wiki_index import IndexMalformed, canonical_type, decode_index, find_index, read_wiki
from sync.wiki_links import MAX_DESCRIPTION, MAX_TEXT
from sync.wiki_paths import is_page
from sync.wiki_titles import OTHER, TYPES

MAX_TITLE = MAX_TEXT  # code points; what a reader keeps of a link's text
NEW_INDEX = "index.md"

_REGULAR = 0o100644


@dataclass(frozen=True, slots=True)
class Draft:
    """A page as a caller wants it; ``title`` and ``description`` (``""``: none) are on one line."""

    slug: str
    type: str | None
    title: str
    body: str
    description: str = ""

    @classmethod
    def of(cls, slug: str, type_: str | None, title: str, body: str, description: str = "") -> Draft:
        """By a caller's words. Raises ``InvalidArgument`` for a title or description that no line can hold."""
        line = one_line(title, "title", MAX_TITLE)
        if not line:
            raise InvalidArgument("title is empty — say in a few words what the page is about", argument="title")
        return cls(slug, type_, line, body, one_line(description, "description", MAX_DESCRIPTION))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page and the line that lists it go: the ``target`` and the file ``index``, below ``.wiki/``."""

    target: Target
    index: str

    @property
    def paths(self) -> tuple[str, str]:
        """Page and index, from the repository's root."""
        return WIKI + self.target.path, WIKI + self.index


@dataclass(frozen=True, slots=True)
class Scene:
    """A wiki as a write finds it at ``commit`` (``None``: there is none yet): the ``tree`` below ``.wiki/``, ``page``
    and ``index`` (``None``: no such file). ``at`` is when reading it began, in seconds since the UTC epoch;
    ``uncommitted``: a working tree differs from the commit."""

    commit: str | None
    tree: tuple[TreeEntry, ...]
    place: Place
    page: File | None
    index: File | None
    at: float
    uncommitted: bool = False

    @property
    def slug(self) -> str:
        return self.place.target.slug

    @property
    def revision(self) -> str | None:
        """The page's."""
        return None if self.page is None else self.page.sha

    @property
    def blobs(self) -> Mapping[str, str]:
        """What the wiki holds, by path."""
        return {entry.path: entry.sha for entry in self.tree}

    def after(self, edit: Edit, commit: str, shas: Mapping[str, str], *, at: float) -> Scene:
        """The wiki after an ``edit`` that was made ``at`` that time by ``commit``, under the names that that gave."""
        files = {change.path: File(change.path, shas[change.path], change.data) for change in edit.changes}
        entries = {entry.path: entry for entry in self.tree}
        for path, file in files.items():
            inside = path.removeprefix(WIKI)
            known = entries.get(inside, TreeEntry(inside, _REGULAR, "", 0))
            entries[inside] = replace(known, sha=file.sha, size=len(file.data))
        page, index = self.place.paths
        return replace(
            self,
            commit=commit,
            tree=tuple(entries[path] for path in sorted(entries)),
            page=files.get(page, self.page),
            index=files.get(index, self.index),
            at=at,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written: the ``changes``, none where all is there already, and the ``page`` that there will be."""

    changes: tuple[Change, ...]
    page: PageText

    def edit(self, slug: str, *, branch: str | None = None, new_branch: str | None = None) -> Edit:
        """The commit of it."""
        does = "add" if self.changes[0].sha is None else "change"
        return Edit(f"wiki: {does} {slug}", self.changes, branch, new_branch)


@dataclass(frozen=True, slots=True)
class Clash:
    """The page is not what the caller has read, but at ``revision`` (``None``: there is no such page)."""

    revision: str | None


Decision: TypeAlias = Plan | Clash


def find_place(draft: Draft, tree: Sequence[TreeEntry]) -> Place:
    """Where ``draft`` goes in the wiki with this ``tree``.

    Raises ``InvalidArgument``, as :func:`sync.slugs.find_target`, and ``Conflict`` where no index can be made."""
    return Place(find_target(draft.slug, draft.type, tree), _index(tree))


def find_place_again(place: Place, tree: Sequence[TreeEntry]) -> Place:
    """The same in another tree: that of a later commit or another branch. A page that was there is not looked for
    under another name."""
    target = place.target
    if not target.exists:
        return Place(find_target(target.slug, target.type, tree), _index(tree))
    exists = any(entry.path == target.path and is_page(entry) for entry in tree)
    return Place(replace(target, exists=exists), _index(tree))


def _index(tree: Sequence[TreeEntry]) -> str:
    found = find_index(entry.path for entry in tree if stat.S_ISREG(entry.mode))
    if found is None:
        for entry in tree:
            if entry.path.partition("/")[0].casefold() == NEW_INDEX:
                raise Conflict(f"{WIKI}{entry.path} is in the way of an index — put a regular file in its place")
    return found or NEW_INDEX


def file_of(answer: Answer) -> File | None:
    """A file as it was read, ``None`` where there is none. Raises what keeps it from being written."""
    match answer:
        case File():
            return answer
        case Absent():
            return None
        case TooBig(path=path, limit=limit):
            raise TooLarge(path, limit)
        case Refused(path=path, reason=reason):  # by now: the tree had a file there
            raise Conflict(f"{path} is {reason} — put a regular file in its place")


def plan(draft: Draft, scene: Scene, expected: str | None, *, sent: bool = False) -> Decision:
    """What writing ``draft`` over ``scene`` takes, for a caller who has read the page at revision ``expected``
    (``None``: to whom it is new).

    ``sent``: an earlier attempt may have been carried out. Then a page that holds just what is to be written counts as
    ours, and what the index says of it by now as what others want.

    Raises the errors of :func:`sync.page_edit.compose_page` and :func:`sync.index_edit.edit_index`."""
    target = scene.place.target
    path, index_path = scene.place.paths
    old, old_index = _data(scene.page), _data(scene.index)
    page = compose_page(draft.title, draft.body, old, path)
    is_there = old == page.data
    if is_there and sent and _is_listed(scene):
        return Plan((), page)
    if not is_there and scene.revision != expected:
        return Clash(scene.revision)
    type_ = target.type or canonical_type(page.facts.type or "")
    entry = Entry(
        target.path,
        type_ if type_ in TYPES else OTHER,
        draft.title,
        draft.description,
        titled=page.title == draft.title,
    )
    index = edit_index(old_index, entry, scene.tree, scene.place.index)
    wanted = ((path, page.data, scene.page), (index_path, index, scene.index))
    changes = tuple(
        Change(name, data, None if file is None else file.sha) for name, data, file in wanted if data != _data(file)
    )
    if changes and not sent and scene.revision != expected:
        return Clash(scene.revision)
    return Plan(changes, page)


def _data(file: File | None) -> bytes | None:
    return None if file is None else file.data


def _is_listed(scene: Scene) -> bool:
    """Whether the root index lists the page."""
    try:
        text = None if scene.index is None else decode_index(scene.index.data)
    except IndexMalformed:
        return False
    pages = read_wiki(scene.tree, {scene.place.index: text}, {}).pages
    return any(page.listed for page in pages if page.slug == scene.place.target.slug)


def shown_as_diff(planned: Plan, scene: Scene) -> str:
    """What ``planned`` changes, as one diff that git can apply."""
    old = {file.path: file.data for file in (scene.page, scene.index) if file is not None}
    return "".join(diff(old.get(change.path), change.data, change.path) for change in planned.changes)


def blobs_after(scene: Scene, planned: Plan) -> Mapping[str, str]:
    """What the wiki will hold, as :attr:`Scene.blobs`."""
    made = {each.path.removeprefix(WIKI): blob_name(each.data, like=scene.commit or "") for each in planned.changes}
    return {**scene.blobs, **made}


def revision_of(planned: Plan, scene: Scene) -> str:
    """The revision that the page will have."""
    return blob_name(planned.page.data, like=scene.commit or "")


@dataclass(frozen=True, slots=True)
class Finding:
    """How a page was found to be another one than the caller has read: ``where``, by whose last ``change``, whether
    that came ``meanwhile`` (between our read and our write), and whether what was ``sent`` may have been written."""

    where: str
    expected: str | None
    clash: Clash
    change: LastChange | None
    meanwhile: bool
    sent: bool


def conflict(found: Finding) -> Conflict:
    """The line that tells a caller of it, with the remedy."""
    revision = found.clash.revision
    when = "between read and write" if found.meanwhile else "" if found.expected is None else "before it was read here"
    if revision is None:
        facts = ["page is gone: " + found.where, *_by(found.change, "last changed"), when]
        remedy = "leave expected_revision out to make it anew"
    else:
        head = "page exists" if found.expected is None else "page changed"
        facts = [f"{head}: {found.where} is at revision {revision}", *_by(found.change, "changed"), when]
        remedy = "read it, then send that revision as expected_revision"
    if found.sent:
        facts.append("after what was sent may have been written")
    return Conflict(f"{', '.join(filter(None, facts))} — {remedy}")


def _by(change: LastChange | None, did: str) -> list[str]:
    if change is None:
        return []
    at = timestamp(change.at)
    when = f" at {at}" if at else ""
    return (
        [f"edited{when} and not committed"] if change.uncommitted else [f"{did} by {shown(change.author, 100)}{when}"]
    )
