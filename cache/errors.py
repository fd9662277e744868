"""Every failure that a caller may see: one type, with its data, for each code of the tool contract.

A message says what is wrong and what to do next, on one line, and holds nothing secret. One boundary
(``gateway.server``) turns these into tool results, another (``gateway.cli``) into exit codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar


class KnowledgeError(Exception):
    """A failure with a code of the tool contract.

    ``message`` is the one line without its code, ``line`` the same with it: ``not_found: page not found: …``.
    """

    code: ClassVar[str] = "unavailable"

    def __init__(self, message: str) -> None:
        self.message = " ".join(message.split())
        super().__init__(self.message)

    @property
    def line(self) -> str:
        """The error as a tool result shows it: the code, a colon, the message."""
        return f"{self.code}: {self.message}"


class InvalidArgument(KnowledgeError):
    """The caller's words are off; ``argument`` names the one at fault where there is one."""

    code = "invalid_argument"

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class InvalidPath(InvalidArgument):
    """What was named cannot be the path of a document."""

    code = "invalid_path"


class NotFound(KnowledgeError):
    """What was named is not there; ``suggestions`` are the nearest names that are."""

    code = "not_found"

    def __init__(self, message: str, *, suggestions: tuple[str, ...] = ()) -> None:
        hint = f" (did you mean {' or '.join(suggestions)}?)" if suggestions else ""
        super().__init__(message + hint)
        self.reason = message
        self.suggestions = suggestions


class Ambiguous(KnowledgeError):
    """A name fits several things; ``candidates`` are their full names."""

    code = "ambiguous"

    def __init__(self, what: str, candidates: tuple[str, ...]) -> None:
        super().__init__(f"ambiguous {what} — one of: {', '.join(candidates)}")
        self.candidates = candidates


class AmbiguousHeading(KnowledgeError):
    """``heading`` fits several sections; ``places`` tell where each is."""

    code = "ambiguous_heading"

    def __init__(self, heading: str, places: tuple[str, ...]) -> None:
        super().__init__(
            f"'{heading}' fits {len(places)} sections — {', '.join(places)}: write it as 'Parent > Heading', or give"
            " sections different names"
        )
        self.heading = heading
        self.places = places


class AlreadyExists(KnowledgeError):
    """There is something at ``path``, or at one that some file systems take for the same."""

    code = "already_exists"

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class Conflict(KnowledgeError):
    """Somebody else's newer work is in the way."""

    code = "conflict"


class Denied(KnowledgeError):
    """The forge, the file system or the allow-list refuses; ``host`` is who refused."""

    code = "denied"

    def __init__(self, message: str, *, host: str = "") -> None:
        super().__init__(message)
        self.host = host


class Forbidden(KnowledgeError):
    """The run token lacks ``capability``."""

    code = "forbidden"

    def __init__(self, capability: str) -> None:
        super().__init__(f"missing {capability}")
        self.capability = capability


class Unavailable(KnowledgeError):
    """A part that is needed does not answer; ``host`` names it."""

    code = "unavailable"

    def __init__(self, message: str, *, host: str = "") -> None:
        super().__init__(message)
        self.host = host


class TimedOut(KnowledgeError):
    """The deadline of ``seconds`` passed; ``remedy`` says what to do, where that is not plain."""

    code = "timed_out"

    def __init__(self, seconds: float, *, remedy: str = "") -> None:
        super().__init__(_with(remedy, f"timed out after {seconds:g} s"))
        self.seconds = seconds


class NotConfigured(KnowledgeError):
    """A setting that the call needs is missing; the message names it and the remedy."""

    code = "not_configured"


class NotUtf8(KnowledgeError):
    """A file is not UTF-8 text; ``path`` names it as the caller knows it."""

    code = "not_utf8"

    def __init__(self, path: str, *, remedy: str = "") -> None:
        super().__init__(_with(remedy, f"not UTF-8 text: {path}"))
        self.path = path


class TooLarge(KnowledgeError):
    """Something has more than ``limit`` bytes."""

    code = "too_large"

    def __init__(self, what: str, limit: int, *, remedy: str = "") -> None:
        super().__init__(_with(remedy, f"{what} is larger than {limit} bytes"))
        self.limit = limit


class RateLimited(KnowledgeError):
    """Too soon; ``retry_after`` is in seconds."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StoreFailure(Unavailable):
    """The cache file cannot be used; the message names the remedy, never a path the user did not configure."""


class NewerStore(StoreFailure):
    """The cache file was written by a newer version of the gateway, which alone can read it."""


class SyncRunning(Exception):
    """Another full sync holds the lease of this cache file."""


def _with(remedy: str, message: str) -> str:
    return f"{message} — {remedy}" if remedy else message


def shown(word: str, limit: int = 200) -> str:
    """A caller's word as an error may repeat it: printable and short."""
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in word)
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def cause(error: BaseException) -> BaseException:
    """The error that a group of them comes down to: its only one, or the first where all are the contract's.

    Task groups wrap what their tasks raise, and a second task may fail before the first one's failure has stopped it.
    """
    leaves = list(_leaves(error))
    return leaves[0] if len(leaves) == 1 or all(isinstance(leaf, KnowledgeError) for leaf in leaves) else error


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
