"""A task as a file: its path, its front matter, and whether a file holds the same task. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count

from cache.model import SAME_TASK
from cache.search.query import normalize
from sync import front_matter
from sync.tasks import Task

FOLDER = ".tasks/"
MAX_SLUG = 60  # code points
MAX_SLUG_BYTES = 180  # of UTF-8: a file's name has at most 255, with date, number and ``.md``
NO_SLUG = "task"  # of a title without letters and digits

_CREATED = re.compile(r"^created: (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})Z$", re.MULTILINE | re.ASCII)


def paths(title: str, now: float) -> Iterator[str]:
    """Where a task that is filed ``now`` (seconds since the UTC epoch) may lie, from the repository's root: the first
    path that is free. The day is that of UTC."""
    stem = f"{FOLDER}{datetime.fromtimestamp(now, UTC):%Y-%m-%d}-{slug_of(title)}"
    yield f"{stem}.md"
    for number in count(2):
        yield f"{stem}-{number}.md"


def slug_of(title: str) -> str:
    """A title as a part of a file's name: lower case, a dash for each run of anything but letters, digits and the marks
    that belong to them, of any script."""
    folded = normalize("NFKC", normalize("NFKC", title).lower())
    kept = (char if char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"} else "-" for char in folded)
    words = [word for part in "".join(kept).split("-") if (word := _without_loose_marks(part))]
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else _fitting(word)
        if not _fits(longer):
            break
        slug = longer
    return slug or NO_SLUG


def _without_loose_marks(word: str) -> str:
    """A word without marks that stand before all letters and digits, where they belong to none."""
    start = next((at for at, char in enumerate(word) if char.isalnum()), len(word))
    return word[start:]


def _fitting(word: str) -> str:
    while not _fits(word):
        word = word[:-1]
    return word


def _fits(slug: str) -> bool:
    return len(slug) <= MAX_SLUG and len(slug.encode("utf-8", "surrogatepass")) <= MAX_SLUG_BYTES


def text_of(task: Task, now: float) -> str:
    """The file of a task that is filed ``now``. Its front matter is YAML 1.1 and 1.2 alike; the body follows as it is,
    but for white space at its end."""
    labels = ", ".join(map(front_matter.quoted, task.labels))
    created = datetime.fromtimestamp(now, UTC)
    return (
        f"---\n{_title_line(task)}\ncreated: {created:%Y-%m-%dT%H:%M:%SZ}\nlabels: [{labels}]\nstatus: open\n---\n\n"
        f"{task.body.rstrip()}\n"
    )


def holds(text: str, task: Task) -> bool:
    """Whether a file's text is that of this task, whenever it was filed and whatever its labels and status are now."""
    yaml, body = front_matter.split(text)
    return _title_line(task) in yaml.splitlines() and Task(task.title, text[body:]).digest == task.digest


def filed_at(text: str, task: Task, now: float) -> float | None:
    """When a file's text filed this task, if that was in the last ``SAME_TASK``; ``now`` where it does not tell."""
    if not holds(text, task):
        return None
    created = _CREATED.search(front_matter.split(text)[0])
    try:
        at = now if created is None else datetime.fromisoformat(f"{created[1]}+00:00").timestamp()
    except ValueError:  # no such day
        at = now
    return at if abs(now - at) < SAME_TASK else None


def _title_line(task: Task) -> str:
    return f"title: {front_matter.quoted(task.title)}"
