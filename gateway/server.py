"""Tools over the protocol: the list, the calls, and the one place where errors become tool results."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ListedTool

from cache.errors import Denied, KnowledgeError, cause
from gateway.tools.arguments import Arguments
from gateway.tools.registry import Registry, Result, Structured, Texts, Tool
from gateway.wording import READ_ONLY, as_unicode, near, printable, shown

logger = logging.getLogger(__name__)

INTERNAL_ERROR: Final = "unavailable: internal error (see the log)"

Context = ServerRequestContext[dict[str, Any], Any]


def build_server(registry: Registry, *, name: str, version: str, instructions: str) -> Server[dict[str, Any]]:
    """A server of both protocol eras that lists and calls the tools of ``registry``."""
    tools = _Tools(registry)
    return Server(
        name,
        version=version,
        instructions=instructions,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        get_tool_input_schema=tools.input_schema,
    )


class _Tools:
    """The request handlers of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._listed = [_listed(spelled, tool) for spelled, tool in registry.listed()]
        self._arguments = {tool.name: Arguments(tool.input_schema, tool.paths) for tool in registry.tools}

    async def list(self, _: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "unknown cursor: tools/list has one page")
        return ListToolsResult(tools=self._listed)

    async def call(self, _: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = self._registry.find(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, self._unknown(params.name))
        if not self._registry.listing.shows(tool):
            return _failure(Denied(READ_ONLY).line)
        try:
            arguments = self._arguments[tool.name].check(params.arguments or {})
            return _success(await tool.run(arguments))
        except Exception as error:
            known = cause(error)
            if isinstance(known, KnowledgeError):
                logger.debug("%s failed:", tool.name, exc_info=error)
                return _failure(known.line)
            logger.exception("%s failed", tool.name)
            return _failure(INTERNAL_ERROR)

    def input_schema(self, called: str) -> dict[str, Any] | None:
        tool = self._registry.find(called)
        return None if tool is None else dict(tool.input_schema)

    def _unknown(self, called: str) -> str:
        suggestion = near(called, (spelled for spelled, _ in self._registry.listed()))
        return f"unknown tool {shown(called)} ({f'did you mean {suggestion}?' if suggestion else 'see tools/list'})"


def _failure(line: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=printable(line))], is_error=True)


def _success(result: Result) -> CallToolResult:
    match result:
        case Structured(content):
            text = json.dumps(dict(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            clean = as_unicode(text)
            return CallToolResult(
                # The same in text for clients that know no structured content (2025-11-25, server/tools).
                content=[TextContent(text=clean)],
                structured_content=dict(content) if clean is text else json.loads(clean),
            )
        case Texts(blocks):
            return CallToolResult(content=[TextContent(text=as_unicode(block)) for block in blocks])


def _listed(spelled: str, tool: Tool) -> ListedTool:
    meta: dict[str, Any] = {}
    if tool.core:
        meta["anthropic/alwaysLoad"] = True
    if tool.max_result_chars is not None:
        meta["anthropic/maxResultSizeChars"] = tool.max_result_chars
    return ListedTool(
        name=spelled,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=None if tool.output_schema is None else dict(tool.output_schema),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
        _meta=meta or None,
    )
