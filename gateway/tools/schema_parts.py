"""What the tools' JSON Schemas are made of: plain types, as all clients take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Schema = Mapping[str, object]

MAX_QUERY: Final = 2_000  # code points
MAX_NAME: Final = 1_000  # code points of what names one thing

TEXT: Final[Schema] = {"type": "string"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
FLAG: Final[Schema] = {"type": "boolean"}
SCORE: Final[Schema] = {"type": "number"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}


def record(required: Sequence[str], **properties: Schema) -> Schema:
    """An object of exactly these ``properties``."""
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def string(description: str, *, max_length: int = MAX_NAME) -> Schema:
    """An argument of at least one character."""
    return {"type": "string", "minLength": 1, "maxLength": max_length, "description": description}


def integer(description: str, *, default: int, minimum: int, maximum: int | None = None) -> Schema:
    """An argument with bounds."""
    bounds = {"minimum": minimum} if maximum is None else {"minimum": minimum, "maximum": maximum}
    return {"type": "integer", **bounds, "default": default, "description": description}


def boolean(description: str) -> Schema:
    """An argument that is false unless it is given."""
    return {"type": "boolean", "default": False, "description": description}


def array(items: Schema, description: str) -> Schema:
    """A list in a result."""
    return {"type": "array", "items": items, "description": description}
