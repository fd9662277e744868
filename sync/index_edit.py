"""The root index of a wiki with one page listed. Pure.

The reader (:mod:`sync.wiki_index`) says which file is the index, whatever it is called: a README that serves as one
gets the line too, since an ``index.md`` beside it would take its place, and with it every page that it lists.

A page that the index does not list is added where its type's section ends, before any further heading, in the style of
what is there: list or table, bullet or number, link or wikilink, separator. A missing section is added at the end, a
missing index made with the five. A page that it lists stays where it is; title and description are changed if the line
that lists it can be rewritten to say just that, and are left otherwise. Every other byte is kept.

What is about to be written is read by the reader first (:mod:`sync.index_trial`): it lists the page as it should, and
every other page as before, or it is not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cache.errors import Conflict, InvalidArgument, shown
from cache.model import MAX_INDEX, TreeEntry
from sync.forge.base import WIKI
from sync.index_change import Change
from sync.index_layout import Layout
from sync.index_leads import Leads
from sync.index_style import Entry, ListStyle, Style
from sync.index_trial import Trial
from sync.wiki_index import IndexMalformed, decode_index
from sync.wiki_links import Survey, survey, trim
from sync.wiki_titles import repeats_path

_SPLIT = "move a part of it to a sub-index, then try again"
_WIDE = "-   "  # an item that does not take a heading behind it in, however that is indented

_NOTHING = Change(0, 0, "")


def edit_index(
    data: bytes | None, entry: Entry, tree: Sequence[TreeEntry], path: str, *, in_sub_index: bool = False
) -> bytes:
    """The index file at ``path`` (below ``.wiki/``) with ``entry`` listed; the same bytes where nothing is to change.

    ``data`` is what it holds, ``None`` if there is no index. ``tree`` is the wiki's; the entry's page may not be in it.
    A page ``in_sub_index`` is listed by one, so that the root index need not.

    Raises ``Conflict`` for an index that cannot be read or has no room, and ``InvalidArgument`` for a title that would
    not be shown, and for a new page whose name would take a link of the index away from another page."""
    if not trim(entry.description):
        entry = replace(entry, description="")
    if repeats_path(entry.title, entry.slug) and not entry.titled:
        raise InvalidArgument(
            "title merely repeats the slug, so the page's own would be shown, which is another — use one for both",
            argument="title",
        )
    text = "" if data is None else _decoded(data, path)
    leads = Leads(tree, entry.path, path)
    seen = survey(text, leads)
    _refuse_diversion(leads)
    layout = Layout(text, seen, leads)
    trial = Trial(text, seen, entry, leads)
    listed = [number for number, link in enumerate(seen.links) if link.page == entry.path]
    change: Change | None = None
    if listed:
        change = next(_alterations(entry, seen, listed, layout, trial), _NOTHING)
    elif in_sub_index:
        change = _NOTHING
    elif not seen.complete:
        raise Conflict(f"{WIKI}{path} lists more than is read of an index — {_SPLIT}")
    else:
        change = next(filter(trial.adds, _additions(entry, layout)), None)
    if change is None:
        raise Conflict(f"{WIKI}{path} has no place where a page can be listed — mend its Markdown, then try again")
    made = change.apply(text).encode()
    if len(made) > MAX_INDEX:
        raise Conflict(f"{WIKI}{path} would be over 1 MiB — {_SPLIT}")
    return made


def _decoded(data: bytes, path: str) -> str:
    try:
        return decode_index(data)
    except IndexMalformed as error:
        raise Conflict(f"{error} — mend {WIKI}{path}, then try again") from error


def _refuse_diversion(leads: Leads) -> None:
    for target, page in leads.diverted.items():
        raise InvalidArgument(
            f"slug: the index calls {shown(page.removesuffix('.md'))} by the link {shown(target)}, which would lead "
            "elsewhere — choose another name",
            argument="slug",
        )


def _additions(entry: Entry, layout: Layout) -> Iterator[Change]:
    """Ways to list a page that is not listed, the best first."""
    if layout.is_blank:
        yield from (layout.fill(entry.type, line) for line in _lines(ListStyle(), entry))
        return
    section = layout.section(entry.type)
    if section is None:
        for line in _lines(layout.fresh_style(layout.whole.stop), entry):
            yield from layout.add_section(entry.type, line)
        return
    group = layout.group(section)
    style = None if group is None else layout.style(group)
    if group is not None and style is not None:
        yield from (layout.add_to(group, line, loose=style.loose) for line in _lines(style, entry))
    for line in (*_lines(layout.fresh_style(section.start), entry), *_lines(ListStyle(_WIDE), entry)):
        yield from layout.add_list(section, line)


def _lines(style: Style, entry: Entry) -> Iterator[str]:
    """A new line in a style, or else as every renderer knows it, with what could be markup escaped, or else all."""
    for each in (style, style.plain()):
        yield each.write(entry, thorough=False)
        yield each.write(entry, thorough=True)


def _alterations(entry: Entry, seen: Survey, listed: Sequence[int], layout: Layout, trial: Trial) -> Iterator[Change]:
    """Changes that make the first link to a page, which decides its title, say what it should, as far as that was found
    to be possible, the best first; none where it does so already. ``listed`` are the numbers of all its links."""
    links = [seen.links[number] for number in listed]
    title = not trial.shows(links[0])
    description = bool(entry.description) and not trial.describes(
        next((link for link in links if link.description), links[0])
    )
    line = layout.line(listed[0], ListStyle().separator) if title or description else None
    for new_title, new_description in ((title, description), (title, False), (False, description)):
        if line is not None and (new_title or new_description):
            for change in line.rewrite(entry, title=new_title, description=new_description):
                if trial.alters(change, title=new_title, description=new_description):
                    yield change
