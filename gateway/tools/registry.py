"""The vocabulary of tools: what one is, what it returns, and the list of those that are served.

Tools are plain data with a plain function; nothing here knows the protocol or its SDK.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Structured:
    """A result as one JSON object, which the tool's output schema describes."""

    content: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Texts:
    """A result as text blocks alone: each is shown to the model exactly as it stands."""

    blocks: tuple[str, ...]


Result = Structured | Texts


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    ``name`` is canonical, with dots: ``knowledge.search``. ``description`` has at most 2,000 characters, the key
    fact first. ``input_schema`` is JSON Schema (2020-12) of plain types: an object that allows no additional
    properties, without ``null``, ``anyOf`` and their like. ``output_schema`` describes :class:`Structured` content;
    ``None`` says that the tool returns :class:`Texts`. ``run`` gets arguments that fit the input schema, ``null``
    ones removed, and raises a :class:`cache.errors.KnowledgeError` where it cannot answer; it is cancelled when the
    caller no longer waits.

    ``read_only`` to ``open_world`` become the protocol's annotations of the same names. ``core`` tools are loaded at
    once by clients that defer loading; ``max_result_chars`` (at most 500,000) raises such a client's limit on the
    length of a result. ``paths`` are the arguments that name files: what text cannot is refused as ``invalid_path``.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, object]
    output_schema: Mapping[str, object] | None
    run: Callable[[Mapping[str, Any]], Awaitable[Result]]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    core: bool = False
    max_result_chars: int | None = None
    paths: frozenset[str] = frozenset()


class NameForm(StrEnum):
    """How names are listed. Some clients refuse dots, and some fold them into underscores by themselves."""

    DOTTED = "dotted"
    UNDERSCORE = "underscore"

    def spell(self, name: str) -> str:
        """A canonical ``name`` in this form."""
        return fold(name) if self is NameForm.UNDERSCORE else name


def fold(name: str) -> str:
    """``name`` as clients fold it: the form in which two names must never be equal."""
    return name.replace(".", "_")


@dataclass(frozen=True, slots=True)
class Listing:
    """How tools are listed: under names of one ``form``, and if ``read_only`` without those that write."""

    form: NameForm = NameForm.DOTTED
    read_only: bool = False

    def spell(self, name: str) -> str:
        """A canonical ``name`` in the form that is listed."""
        return self.form.spell(name)

    def shows(self, tool: Tool) -> bool:
        """Whether ``tool`` is listed. One that is not refuses to be called."""
        return tool.read_only or not self.read_only


@dataclass(frozen=True)
class Registry:
    """The tools that one endpoint serves, in the order in which they are listed, as ``listing`` says.

    Raises ``ValueError`` when two tools would have the same name for a client that folds dots into underscores.
    """

    tools: tuple[Tool, ...]
    listing: Listing = Listing()
    _by_folded: Mapping[str, Tool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_folded: dict[str, Tool] = {}
        for tool in self.tools:
            other = by_folded.get(fold(tool.name))
            if other is not None:
                raise ValueError(f"two tools would share a name: {other.name} and {tool.name}")
            by_folded[fold(tool.name)] = tool
        object.__setattr__(self, "_by_folded", by_folded)

    def listed(self) -> tuple[tuple[str, Tool], ...]:
        """Each tool that is listed, with its name as listed."""
        return tuple((self.listing.spell(tool.name), tool) for tool in self.tools if self.listing.shows(tool))

    def find(self, called: str) -> Tool | None:
        """The tool that ``called`` means, in either form, listed or not."""
        tool = self._by_folded.get(fold(called))
        return tool if tool is not None and called in (tool.name, fold(tool.name)) else None
