"""JSON-RPC messages and their bytes (pure). Whatever a client sends gets one clear answer, with its id if it has one.

The SDK's own stdio transport drops what it cannot parse, so that the client waits for ever.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NoReturn

import pydantic_core
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

from gateway.wording import as_unicode, is_unicode

MAX_MESSAGE: Final = 16 * 1024 * 1024  # bytes; four times what the longest arguments of a tool could need
_BEGINNING: Final = 64 * 1024  # bytes of a message that is longer in which its id is looked for

# What ends a line for some readers, though JSON lets it stand in a string as it is
_LINE_ENDS: Final = (("\x85", r"\u0085"), ("\u2028", r"\u2028"), ("\u2029", r"\u2029"))


class Refused(Exception):
    """Bytes that are no message; ``reply`` tells their sender why (JSON-RPC 2.0, section 5.1)."""

    def __init__(self, code: int, message: str, request_id: RequestId | None) -> None:
        super().__init__(message)
        self.reply = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))


class LoneSurrogates(Refused):
    r"""A message with an escape such as ``\ud800`` alone in a string: JSON, but no Unicode (RFC 8259, section 8.2).

    ``message`` is what it says nevertheless, for a receiver that can name the string at fault.
    """

    def __init__(self, message: JSONRPCMessage) -> None:
        request_id = message.id if isinstance(message, JSONRPCRequest) else None
        super().__init__(INVALID_PARAMS, "invalid_argument: a string holds a lone surrogate", request_id)
        self.message = message


def decode(data: bytes) -> JSONRPCMessage:
    """The message that ``data`` is. Raises :class:`Refused`. Takes time linear in the length of ``data``."""
    if len(data) > MAX_MESSAGE:
        raise Refused(INVALID_REQUEST, f"a message has at most {MAX_MESSAGE} bytes", _find_id(data[:_BEGINNING]))
    try:
        value = pydantic_core.from_json(data, allow_inf_nan=False)
    except ValueError as error:
        if _SURROGATE_ESCAPE.search(data):
            raise LoneSurrogates(_message(_leniently(data))) from None
        raise Refused(PARSE_ERROR, f"invalid JSON: {error}", _find_id(data)) from None
    return _message(value)


def encode(message: JSONRPCMessage) -> bytes:
    """``message`` on one line of UTF-8, without the line end, and without anything else that some take for one."""
    try:
        line = message.model_dump_json(by_alias=True, exclude_unset=True)
    except pydantic_core.PydanticSerializationError:  # lone surrogates, which the SDK repeats in some of its errors
        value = message.model_dump(by_alias=True, exclude_unset=True)
        line = as_unicode(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    for sign, escape in _LINE_ENDS:
        line = line.replace(sign, escape)
    return line.encode()


def _leniently(data: bytes) -> object:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(data.decode(), parse_constant=refuse)
    except RecursionError:
        raise Refused(PARSE_ERROR, "invalid JSON: nested too deeply", _find_id(data)) from None
    except ValueError as error:
        reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise Refused(PARSE_ERROR, f"invalid JSON: {reason}", _find_id(data)) from None


def _message(value: object) -> JSONRPCMessage:
    if isinstance(value, list):
        raise Refused(INVALID_REQUEST, "batches are not supported: send one message at a time", None)
    if not isinstance(value, dict):
        raise Refused(INVALID_REQUEST, "a message is a JSON object", None)
    if "method" in value and "id" in value and not _is_id(value["id"]):
        raise Refused(INVALID_REQUEST, "id must be a string or an integer", None)
    model = _model(value)
    try:
        return model.model_validate(value, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        # Only a request has an answer: an error with the id of a bad response would look like one to a request of ours.
        request_id = value["id"] if model is JSONRPCRequest else None
        raise Refused(INVALID_REQUEST, f"invalid message: {where}: {first['msg']}", request_id) from None


def _model(value: Mapping[str, object]) -> type[JSONRPCMessage]:
    if "method" in value:
        return JSONRPCRequest if "id" in value else JSONRPCNotification
    if "result" in value:
        return JSONRPCResponse
    if "error" in value:
        return JSONRPCError
    raise Refused(INVALID_REQUEST, "a message has a method, a result or an error", None)


def _is_id(value: object) -> bool:
    return is_unicode(value) if isinstance(value, str) else isinstance(value, int) and not isinstance(value, bool)


_SURROGATE_ESCAPE: Final = re.compile(rb"\\u[dD][89a-fA-F]")

# A string with the colon that makes it a key, or a run of brackets. A string that never ends matches up to the end of
# the data, so that no byte is looked at twice.
_TOKEN: Final = re.compile(rb'("(?:[^"\\]++|\\.)*+(?:"|\\?\Z))(\s*+:)?|[\[{]++|[\]}]++', re.DOTALL)

_ID: Final = re.compile(rb'\s*+(?:(-?[0-9]{1,40})(?![0-9.eE])|("(?:[^"\\]++|\\.)*+"))', re.DOTALL)


def _find_id(data: bytes) -> RequestId | None:
    """The id of the request that ``data`` was meant to be, as far as can be told from what is no JSON."""
    found: RequestId | None = None
    is_request = False
    depth = 0
    for token in _TOKEN.finditer(data):
        match token[0][:1]:
            case b"[" | b"{":
                depth += len(token[0])
            case b"]" | b"}":
                depth -= len(token[0])
            case _ if depth == 1 and token[2] is not None:
                is_request = is_request or token[1] == b'"method"'
                if token[1] == b'"id"':
                    found = _id_at(data, token.end())
    return found if is_request else None


def _id_at(data: bytes, start: int) -> RequestId | None:
    match = _ID.match(data, start)
    if match is None:
        return None
    if match[1] is not None:
        return int(match[1])
    try:
        text = pydantic_core.from_json(match[2])
    except ValueError:
        return None
    return text if isinstance(text, str) else None
