"""Answers for a person: coloured and wrapped on a terminal, plain and one line each elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shlex import quote

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from gateway.answers import AskAnswer, PageMatch, ProjectEntry, ProjectError, ProjectMatches, SearchAnswer, SharedMatch
from gateway.wording import counted, printable


@dataclass(frozen=True, slots=True)
class Line:
    """One line: pieces of text, each with a style, ``indent`` columns from the left. A ``whole`` one is not wrapped by
    us: a command that is copied from the terminal must stay one."""

    pieces: tuple[tuple[str, str], ...]
    indent: int = 0
    whole: bool = False


def line(text: str, style: str = "", *more: tuple[str, str], indent: int = 0, whole: bool = False) -> Line:
    return Line(((text, style), *more), indent, whole)


def console(*, stderr: bool = False) -> Console:
    """Where a person reads. It honours ``NO_COLOR``, ``TERM`` and pipes."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def show(out: Console, lines: Iterable[Line]) -> None:
    """Print ``lines``; a terminal gets long ones wrapped below their indent."""
    for each in lines:
        text = Text.assemble(*((printable(piece), style) for piece, style in each.pieces))
        indent = Text(" " * each.indent)
        if not out.is_terminal or each.whole:
            out.print(indent + text, soft_wrap=True)
            continue
        for part in text.wrap(out, max(1, out.width - each.indent)):
            shown = indent + part
            shown.rstrip()  # what stood between two words
            out.print(shown, soft_wrap=True)


def ask_lines(answer: AskAnswer) -> list[Line]:
    """What several projects answered, and how to read on."""
    lines = []
    for entry in answer.results:
        lines.append(line(entry.project, "bold"))
        if isinstance(entry, ProjectError):
            lines += _error_lines(entry)
        else:
            lines += _matches_lines(entry)
    first = next((entry for entry in answer.results if isinstance(entry, ProjectMatches) and entry.matches), None)
    if first is not None:
        lines.append(_hint(f"gateway get {_words(first.project, first.matches[0].slug)}", "reads a page"))
    return lines


def _error_lines(entry: ProjectError) -> list[Line]:
    near = f" (did you mean {' or '.join(entry.did_you_mean)}?)" if entry.did_you_mean else ""
    return [line(entry.error + near, "yellow", indent=2)]


def _matches_lines(entry: ProjectMatches) -> list[Line]:
    lines = [piece for match in entry.matches for piece in _match_lines(match)]
    if not entry.matches:
        lines.append(line("nothing found", "dim", indent=2))
    if entry.more:
        lines.append(line(f"and {entry.more} more", "dim", indent=2))
    if entry.warning:
        lines.append(line(entry.warning, "yellow", indent=2))
    return lines


def _match_lines(match: PageMatch | SharedMatch) -> list[Line]:
    words = [mark for mark in ("stale", "uncommitted") if getattr(match, mark, None)]
    age = getattr(match, "age_s", None)
    marks = "".join(f" ({mark})" for mark in [*words, *([] if age is None else [f"{age} s old"])])
    return [
        line(
            match.slug,
            "cyan",
            ("" if match.title == match.slug else f"  {match.title}", ""),
            (marks, "yellow"),
            indent=2,
        ),
        line(match.snippet, "dim", indent=4),
    ]


def search_lines(answer: SearchAnswer) -> list[Line]:
    """What the shared wiki holds, or who else may know."""
    lines = [piece for match in answer.matches for piece in _match_lines(match)]
    if not answer.matches:
        lines.append(line("nothing found in the shared wiki", "dim"))
    elif answer.total > len(answer.matches):
        lines.append(line(f"and {answer.total - len(answer.matches)} more", "dim", indent=2))
    if answer.suggested_projects:
        asked = " ".join(f"-p {quote(project)}" for project in answer.suggested_projects)
        lines.append(_hint(f"gateway ask {quote(answer.query)} {asked}", "asks projects that may know"))
    if answer.stale:
        lines.append(line("the last sync is old — run gateway sync", "yellow"))
    return lines


def show_projects(out: Console, entries: Sequence[ProjectEntry]) -> None:
    """The fleet: in two columns on a terminal, elsewhere a line for each."""
    if not out.is_terminal:
        show(out, map(project_line, entries))
        return
    table = Table.grid(Column(overflow="fold"), Column(overflow="fold"), padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(Text(printable(entry.project), "cyan"), Text(printable(_condition(entry)), _urgency(entry)))
    out.print(table)


def project_line(entry: ProjectEntry) -> Line:
    """One project of the fleet."""
    return line(entry.project, "cyan", (f"  {_condition(entry)}", _urgency(entry)))


def _condition(entry: ProjectEntry) -> str:
    state = entry.state.replace(f": {entry.project} ", ": ", 1)  # the reason may begin with the name that stands there
    marks = [counted(entry.pages, "page") if entry.has_wiki else state]
    if entry.has_wiki and state != "ok":
        marks.append(state)
    marks += [mark for mark, there in (("STATUS", entry.has_status), ("archived", entry.archived)) if there]
    if entry.uncommitted:
        marks.append("uncommitted")
    return ", ".join(marks)


def _urgency(entry: ProjectEntry) -> str:
    return "yellow" if entry.state.startswith(("failed", "denied")) else "dim"


def _hint(command: str, does: str) -> Line:
    return line(command, "bold", (f"  {does}", "dim"), whole=True)


def _words(*words: str) -> str:
    """Other people's words for a command line: none is taken for an option, or for anything that a shell does."""
    return ("-- " if any(word.startswith("-") for word in words) else "") + " ".join(map(quote, words))
