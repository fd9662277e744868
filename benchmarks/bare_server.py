"""The reference: the same SDK over stdio with one empty tool, or with one that returns the result in a file.

``python benchmarks/bare_server.py [RESULT.json]``. Nothing of ours is imported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, Tool

RESULT = (
    CallToolResult.model_validate_json(Path(sys.argv[1]).read_text()) if sys.argv[1:] else CallToolResult(content=[])
)
TOOL = Tool(name="empty", description="Does nothing.", input_schema={"type": "object"})


async def list_tools(_: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[TOOL])


async def call_tool(_: ServerRequestContext[Any, Any], __: CallToolRequestParams) -> CallToolResult:
    return RESULT


async def main() -> None:
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
