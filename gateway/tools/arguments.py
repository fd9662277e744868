"""Validation at the boundary: what a client sends becomes what a tool may rely on, or one error that says why not.

JSON Schema 2020-12 decides; the words are ours, because a model acts on them: each message names the argument and
says what is allowed, and repeats no value that could be long, secret or unprintable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from cache.errors import InvalidArgument, InvalidPath
from gateway.wording import is_unicode, near, shown

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


class Arguments:
    """What one tool accepts: an object of ``input_schema``, in which ``paths`` are the arguments that name files."""

    def __init__(self, input_schema: Mapping[str, Any], paths: AbstractSet[str] = frozenset()) -> None:
        self._schema = input_schema
        self._paths = paths
        self._properties: Mapping[str, Mapping[str, Any]] = input_schema.get("properties", {})
        self._required: Sequence[str] = input_schema.get("required", ())

    @cached_property
    def _validator(self) -> Validator:
        # Not at the top: it takes 55 ms, which a server that was just started owes to the client's handshake.
        from jsonschema import Draft202012Validator  # noqa: PLC0415

        return Draft202012Validator(_bounds_first(self._schema))

    def check(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """``raw`` as the tool gets it: optional arguments that are ``null`` left out, integral floats as ``int``.

        Raises :class:`cache.errors.InvalidArgument` for the first thing that is wrong, and ``InvalidPath`` where that
        is a text which names no file. The time it takes is linear in the size of ``raw``.
        """
        try:
            return self._checked(raw)
        except InvalidArgument as error:
            name = error.argument
            if name is not None and name in self._paths and isinstance(raw.get(name), str):
                raise InvalidPath(error.message, argument=name) from None
            raise

    def _checked(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        self._refuse_unknown(raw)
        given = {name: value for name, value in raw.items() if value is not None}
        for name in self._required:
            if name not in given:
                raise InvalidArgument(f"{name} is required", argument=name)
        try:
            self._refuse_invalid(given)
        except RecursionError:
            raise InvalidArgument("the arguments are nested too deeply") from None
        for name, value in given.items():
            _refuse_unclean(name, value)
        return {name: _with_integers(self._properties.get(name, {}), value) for name, value in given.items()}

    def _refuse_unknown(self, raw: Mapping[str, Any]) -> None:
        if self._schema.get("additionalProperties", True):
            return
        for name in raw:
            if name not in self._properties:
                raise InvalidArgument(f"unknown argument {shown(name)} ({_remedy(name, self._properties)})")

    def _refuse_invalid(self, given: dict[str, Any]) -> None:
        error = next(iter(self._validator.iter_errors(given)), None)
        if error is not None:
            path = error.absolute_path
            raise InvalidArgument(f"{_where(path)} {_complaint(error)}", argument=str(path[0]) if path else None)


def _bounds_first(schema: Any) -> Any:
    """``schema`` with keywords in the order in which they are to be checked: no million items before their number."""
    match schema:
        case dict():
            keywords = sorted(schema, key=lambda keyword: keyword not in _BOUNDS)
            return {keyword: _bounds_first(schema[keyword]) for keyword in keywords}
        case list():
            return [_bounds_first(part) for part in schema]
        case _:
            return schema


_BOUNDS: Final = frozenset(("type", "maxLength", "maxItems", "maxProperties"))


def _remedy(name: str, properties: Collection[str]) -> str:
    if not properties:
        return "this tool takes no arguments"
    suggestion = near(name, properties)
    return f"did you mean '{suggestion}'?" if suggestion else f"allowed: {', '.join(properties)}"


def _where(path: Iterable[str | int]) -> str:
    """``projects[3]`` or ``filter.name`` for the path of an error; "the arguments" for the whole."""
    where = ""
    for step in path:
        where += f"[{step}]" if isinstance(step, int) else f".{step}" if where else step
    return where or "the arguments"


def _complaint(error: ValidationError) -> str:
    word = _COMPLAINTS.get(str(error.validator))
    return word(error.validator_value, error.instance) if word is not None else f"is not allowed ({error.validator})"


_NAMES_OF_TYPES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}

_KINDS: Final = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def _kind(value: object) -> str:
    """What a JSON value is, in the words of its error."""
    if isinstance(value, float) and not value.is_integer():
        return "a fraction"
    return _KINDS[type(value)]


def _wrong_type(allowed: Any, value: object) -> str:
    types = [allowed] if isinstance(allowed, str) else allowed
    return f"must be {' or '.join(_NAMES_OF_TYPES[each] for each in types)}, not {_kind(value)}"


def _too_short(least: Any, _: object) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} characters"


def _too_few(least: Any, _: object) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} items"


_COMPLAINTS: Final[Mapping[str, Callable[[Any, object], str]]] = {
    "type": _wrong_type,
    "enum": lambda allowed, _: f"must be one of: {', '.join(map(str, allowed))}",
    "const": lambda allowed, _: f"must be {allowed}",
    "minimum": lambda least, _: f"must be at least {least}",
    "maximum": lambda most, _: f"must be at most {most}",
    "exclusiveMinimum": lambda bound, _: f"must be above {bound}",
    "exclusiveMaximum": lambda bound, _: f"must be below {bound}",
    "minLength": _too_short,
    "maxLength": lambda most, _: f"must have at most {most} characters",
    "pattern": lambda pattern, _: f"must match {pattern}",
    "minItems": _too_few,
    "maxItems": lambda most, _: f"must have at most {most} items",
    "required": lambda names, _: f"must have {', '.join(names)}",
    "additionalProperties": lambda _, __: "has a key that is not allowed",
}


def _refuse_unclean(argument: str, value: object) -> None:
    """Refuse what JSON can carry and no text, file name or database should: NUL, lone surrogates, NaN, infinities."""
    for leaf in _leaves(value):
        if isinstance(leaf, float) and not math.isfinite(leaf):
            raise InvalidArgument(f"{argument} must be a finite number", argument=argument)
        if isinstance(leaf, str):
            if "\0" in leaf:
                raise InvalidArgument(f"{argument} must not contain NUL characters", argument=argument)
            if not is_unicode(leaf):
                raise InvalidArgument(f"{argument} must not contain lone surrogates", argument=argument)


def _leaves(value: object) -> Iterator[object]:
    """All strings and numbers in a JSON value, keys included. Not recursive: depth is the client's choice."""
    pending = [value]
    while pending:
        match pending.pop():
            case dict() as mapping:
                pending.extend(mapping.keys())
                pending.extend(mapping.values())
            case list() as items:
                pending.extend(items)
            case leaf:
                yield leaf


def _with_integers(schema: Mapping[str, Any], value: Any) -> Any:
    """``value`` with integral floats as ``int`` where ``schema`` says integer (JSON Schema 2020-12, 4.2.3)."""
    match value:
        case float() if schema.get("type") == "integer":
            return int(value)
        case list() if "items" in schema:
            return [_with_integers(schema["items"], item) for item in value]
        case dict() if "properties" in schema:
            return {key: _with_integers(schema["properties"].get(key, {}), item) for key, item in value.items()}
        case _:
            return value
