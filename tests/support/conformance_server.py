"""Our stack with the fixtures of the official conformance suite: ``python -m tests.support.conformance_server``.

Fixtures that are tools of ours in kind go through our registry; the rest is laid over the same server, so that the
suite reaches everything through our transport. Prints the URL it serves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    ErrorData,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    Tool,
    UnsubscribeRequestParams,
)

from cache.errors import Unavailable
from gateway.server import build_server
from gateway.tools.registry import Listing, NameForm, Registry, Result, Texts
from gateway.transports import serve_http
from tests.support.conformance_content import (
    CONTENT_TOOLS,
    FAILURE,
    FULL_SCHEMA,
    PROMPTS,
    RESOURCES,
    SIMPLE_TEXT,
    TEMPLATES,
    get_prompt,
    read_resource,
)
from tests.support.conformance_dialogs import BUS, DIALOGS, Context, prompt_with_input
from tests.support.sample_tools import announce, tool

_REGION: Mapping[str, object] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region", "maxLength": 100}},
    "additionalProperties": False,
}
_ONE_TEXT = {name: {"type": "string"} for name in ("prompt", "message")}  # of the dialogs that take an argument


async def _simple_text(_: Mapping[str, Any]) -> Result:
    return Texts((SIMPLE_TEXT,))


async def _fail(_: Mapping[str, Any]) -> Result:
    raise Unavailable(FAILURE)


async def _region(arguments: Mapping[str, Any]) -> Result:
    return Texts((f"region={arguments.get('region')}",))


REGISTRY = Registry(
    (
        tool("test_simple_text", _simple_text),
        tool("test_error_handling", _fail),
        tool("test_x_mcp_header", _region, input_schema=_REGION),
        tool("json_schema_2020_12_tool", _simple_text, input_schema=FULL_SCHEMA),
    ),
    Listing(NameForm.UNDERSCORE),
)


def conformance_server() -> Server[dict[str, Any]]:
    server = build_server(REGISTRY, name="conformance", version="0", instructions="")
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="conformance"))
    _lay_tools_over(server)
    _add_the_rest(server)
    return server


def _lay_tools_over(server: Server[dict[str, Any]]) -> None:
    ours = server.get_request_handler("tools/call")
    our_list = server.get_request_handler("tools/list")
    assert ours is not None
    assert our_list is not None
    free = {"type": "object", "properties": _ONE_TEXT}
    more = [Tool(name=name, description="A fixture.", input_schema=free) for name in (*CONTENT_TOOLS, *DIALOGS)]

    async def call(ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.name in CONTENT_TOOLS:
            return CONTENT_TOOLS[params.name]
        if params.name in DIALOGS:
            return await DIALOGS[params.name](ctx, params)
        result = await ours.handler(ctx, params)
        assert isinstance(result, CallToolResult)
        return result

    async def list_tools(ctx: Context, params: PaginatedRequestParams) -> ListToolsResult:
        result = await our_list.handler(ctx, params)
        assert isinstance(result, ListToolsResult)
        return ListToolsResult(tools=[*result.tools, *more])

    def input_schema(name: str) -> Mapping[str, Any] | None:
        found = REGISTRY.find(name)
        return None if found is None else found.input_schema

    server.add_request_handler("tools/call", CallToolRequestParams, call)
    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.get_tool_input_schema = input_schema


def _add_the_rest(server: Server[dict[str, Any]]) -> None:
    async def nothing(_: Context, __: RequestParams) -> EmptyResult:
        return EmptyResult()

    async def complete(_: Context, __: CompleteRequestParams) -> CompleteResult:
        return CompleteResult(completion=Completion(values=[], total=0, has_more=False))

    async def list_resources(_: Context, __: PaginatedRequestParams) -> ListResourcesResult:
        return ListResourcesResult(resources=RESOURCES)

    async def list_templates(_: Context, __: PaginatedRequestParams) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=TEMPLATES)

    async def read(_: Context, params: ReadResourceRequestParams) -> ReadResourceResult | ErrorData:
        return read_resource(params.uri)

    async def list_prompts(_: Context, __: PaginatedRequestParams) -> ListPromptsResult:
        return ListPromptsResult(prompts=PROMPTS)

    async def prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult | ErrorData:
        if params.name == "test_input_required_result_prompt":
            return await prompt_with_input(params)
        return get_prompt(params.name, params.arguments or {})

    server.add_request_handler("logging/setLevel", SetLevelRequestParams, nothing)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, nothing)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, nothing)
    server.add_request_handler("completion/complete", CompleteRequestParams, complete)
    server.add_request_handler("resources/list", PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, read)
    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, prompt)
    server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(BUS))


async def main() -> None:
    await serve_http(conformance_server(), "127.0.0.1", 0, on_ready=announce)


if __name__ == "__main__":
    anyio.run(main)
