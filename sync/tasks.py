"""A task's title, what makes two tasks the same, and the marker by which an issue is known again. Pure.

A text is known by a digest of its title and body: not of its labels, since the same text with other labels is the same
task. The marker, which ends the body of an issue, is the beginning of that digest. So every gateway knows which
marker to look for, whether it has filed the text or another one with a cache of its own has; and since only issues
filed in the last ``SAME_TASK`` count, the same text may be filed anew a day later. The last marker of a body is the
one that counts: a text that holds the marker of another is not taken for it.

Titles and markers of long bodies are to be made in a worker thread (see :mod:`sync.markdown`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from cache.errors import InvalidArgument, TooLarge, shown
from cache.model import SAME_TASK
from cache.text import storable
from sync import front_matter
from sync.blocks import Block, BlockKind, plain
from sync.closing import closing
from sync.forge.writing import Issue
from sync.markdown import blocks

MAX_TITLE = 255  # code points; what forges take
MAX_BODY = 1024 * 1024  # bytes of UTF-8
MAX_LABELS = 50  # of one task
SHOWN_LABELS = 50  # of those that there are, in an error
LATE = 60.0  # seconds after which a request that was sent is not carried out any more

_MARKER = re.compile(r"<!-- gateway task ([0-9a-f]{32}) -->")
_CHECKBOX = re.compile(r"\[[ xX]\] ")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_JOINER = "\N{ZERO WIDTH JOINER}"
_JOINED = frozenset({"Mn", "Mc", "Me", "Cf"})  # categories of what belongs to the character before it
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})", re.MULTILINE)
_FENCE_ALONE = re.compile(r"^( {0,3}(?:`{3,}|~{3,}))[ \t]+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be filed. ``title`` is by :func:`checked_title` or :func:`title_of`."""

    title: str
    body: str
    labels: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """What this text is known by, hexadecimal. Line ends and white space around it make no difference."""
        parts = (" ".join(self.title.split()), _with_line_feeds(self.body).strip())
        encoded = (part.encode("utf-8", "surrogatepass") for part in parts)
        return hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in encoded)).hexdigest()


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def checked_title(title: str) -> str:
    """A title that a caller gave, without white space around it. Raises ``InvalidArgument``."""
    if _CONTROL.search(title.strip()):
        raise InvalidArgument("title must be one line without control characters", argument="title")
    title = storable(title.strip())
    if not title:
        raise InvalidArgument("title is empty — leave it out to have it taken from the body", argument="title")
    if len(title) > MAX_TITLE:
        raise InvalidArgument(f"title must have at most {MAX_TITLE} characters, not {len(title)}", argument="title")
    return title


def checked_body(body: str) -> str:
    """A body that a caller gave. Raises ``InvalidArgument`` and ``TooLarge``."""
    if not body.strip():
        raise InvalidArgument("body is empty — say what is to be done", argument="body")
    if len(body.encode("utf-8", "surrogatepass")) > MAX_BODY:
        raise TooLarge("body", MAX_BODY)
    if "\0" in body or storable(body) != body:
        raise InvalidArgument("body must be text, without NUL characters and lone surrogates", argument="body")
    return body


def checked_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels that a caller gave, each once, without white space around them. Raises ``InvalidArgument``."""
    names = tuple(dict.fromkeys(label.strip() for label in labels))
    if any(not name or _CONTROL.search(name) or storable(name) != name for name in names):
        raise InvalidArgument("labels: each must be the name of a label", argument="labels")
    if len(names) > MAX_LABELS:
        raise InvalidArgument(f"labels: at most {MAX_LABELS}, not {len(names)}", argument="labels")
    return names


def resolve_labels(wanted: Sequence[str], known: Mapping[str, int]) -> Mapping[str, int]:
    """Those of the labels that are ``known`` (name and id) that the ``wanted`` names mean: without case, where that
    leaves one. Raises ``InvalidArgument`` with those that there are."""
    found: dict[str, int] = {}
    for name in wanted:
        alike = [name] if name in known else [each for each in known if each.casefold() == name.casefold()]
        if len(alike) != 1:
            raise InvalidArgument(f"no label is called {shown(name)} — {_choice(sorted(known))}", argument="labels")
        found[alike[0]] = known[alike[0]]
    return found


def _choice(labels: Sequence[str]) -> str:
    if not labels:
        return "there are none, so leave labels out"
    more = f" and {len(labels) - SHOWN_LABELS} more" if len(labels) > SHOWN_LABELS else ""
    return f"there are: {', '.join(map(shown, labels[:SHOWN_LABELS]))}{more}"


def title_of(body: str) -> str:
    """The body's first heading or line as plain text, white space folded, cut after a word if it is too long.

    Front matter is no part of it, and code only where there is nothing else. Raises ``InvalidArgument`` where there
    is no word at all."""
    start = front_matter.split(body)[1]
    shown = (line for block in blocks(body, start) for line in _lines(block))
    written = (line for line in body[start:].splitlines() if not _FENCE.match(line))
    for line in chain(shown, written):
        title = _CHECKBOX.sub("", " ".join(_CONTROL.sub(" ", storable(line)).split()), count=1)
        if any(map(_tells, title)):
            return _cut(title)
    raise InvalidArgument("body holds no word to take a title from — give a title", argument="body")


def _tells(char: str) -> bool:
    """Whether a character is more than punctuation: a letter, a digit, a pictograph."""
    return char.isalnum() or unicodedata.category(char) == "So"


def _lines(block: Block) -> Iterator[str]:
    """What a reader sees of a block, line by line; a table row is one."""
    if block.kind is BlockKind.PARAGRAPH:
        yield from "".join(piece.text for piece in block.cells[0]).split("\n")
    else:
        yield " ".join(map(plain, block.cells))


def _cut(line: str) -> str:
    """A line of at most ``MAX_TITLE`` code points: after a word, or inside one that is very long, between two
    characters as a reader sees them."""
    if len(line) <= MAX_TITLE:
        return line
    end = MAX_TITLE - 1
    space = line.rfind(" ", MAX_TITLE // 2, end + 1)
    if space > 0:
        return line[:space].rstrip(" ,;:.–—-") + "…"
    while end > MAX_TITLE // 2 and (unicodedata.category(line[end]) in _JOINED or line[end - 1] == _JOINER):
        end -= 1
    return line[:end] + "…"


def marker_of(task: Task) -> str:
    """The marker of a text, for :func:`with_marker` and :func:`find_marker`."""
    return task.digest[:32]


def with_marker(body: str, marker: str) -> str:
    """An issue's body: ``body`` with line feeds at line ends, then an invisible comment. Code or HTML that is still
    open at the end of it, in which the comment would be text for all to see, is closed first."""
    text = _FENCE_ALONE.sub(r"\1", _with_line_feeds(body)).rstrip()  # parsers differ on a tab behind a fence
    return f"{text}\n{closing(text)}".rstrip() + f"\n\n<!-- gateway task {marker} -->\n"


def find_marker(issues: Iterable[Issue], marker: str, *, now: float) -> tuple[Issue, ...]:
    """Those of ``issues`` that file the text of ``marker``, the oldest first, that were filed in the last
    ``SAME_TASK``. Several are one task that gateways with separate caches filed at the same moment."""
    same = (issue for issue in issues if abs(now - issue.at) < SAME_TASK and _last_marker(issue.body) == marker)
    return tuple(sorted(same, key=lambda issue: issue.number))


def _last_marker(body: str) -> str | None:
    last = deque(_MARKER.finditer(body), maxlen=1)
    return last[0][1] if last else None


def may_send(sent_at: float | None, now: float) -> bool:
    """Whether a request may go out although one was sent before, at ``sent_at``, of whose task nothing is to be seen:
    that one will not be carried out any more. A time after ``now`` was noted before the clock was set back."""
    return sent_at is None or not 0 <= now - sent_at < LATE
