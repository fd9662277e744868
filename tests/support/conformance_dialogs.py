"""Fixtures of the conformance suite that talk with the client during a call: progress, logs, sampling, elicitation,
and (2026-07-28) results that ask for input. Our own tools do none of that; the transports must carry it all the same.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    PromptMessage,
    SamplingMessage,
    TextContent,
)

warnings.simplefilter("ignore", MCPDeprecationWarning)  # what 2026-07-28 gave up, 2025-11-25 still requires

Context = ServerRequestContext[dict[str, Any], Any]
Answer = CallToolResult | InputRequiredResult
Dialog = Callable[[Context, CallToolRequestParams], Awaitable[Answer]]

BUS: Final = InMemorySubscriptionBus()


def _text(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


def _object(required: list[str] | None = None, **properties: Mapping[str, object]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or list(properties)}


_NAME: Final = _object(name={"type": "string"})
_OK: Final = _object(ok={"type": "boolean"})


async def _logging(ctx: Context, _: CallToolRequestParams) -> Answer:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", line, related_request_id=ctx.request_id)
    return _text("Tool with logging executed successfully")


async def _progress(ctx: Context, _: CallToolRequestParams) -> Answer:
    for step in (0, 50, 100):
        await ctx.session.report_progress(step, 100, f"Completed step {step} of 100")
    return _text(str((ctx.meta or {}).get("progress_token")))


async def _sampling(ctx: Context, params: CallToolRequestParams) -> Answer:
    message = SamplingMessage(role="user", content=TextContent(text=(params.arguments or {})["prompt"]))
    result = await ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    content = result.content
    return _text(f"LLM response: {content.text if isinstance(content, TextContent) else 'No response'}")


async def _elicit(ctx: Context, message: str, schema: dict[str, Any], report: str) -> Answer:
    result = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return _text(f"{report}: action={result.action}, content={json.dumps(result.content or {})}")


async def _elicitation(ctx: Context, params: CallToolRequestParams) -> Answer:
    schema = _object(response={"type": "string", "description": "User's response"})
    return await _elicit(ctx, (params.arguments or {})["message"], schema, "User response")


async def _elicitation_defaults(ctx: Context, _: CallToolRequestParams) -> Answer:
    schema = _object(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await _elicit(ctx, "Please provide user information", {**schema, "required": []}, "Elicitation result")


async def _elicitation_enums(ctx: Context, _: CallToolRequestParams) -> Answer:
    words = {"option1": "First", "option2": "Second", "option3": "Third"}
    titled = [{"const": word, "title": title} for word, title in words.items()]
    schema = _object(
        untitledSingle={"type": "string", "enum": list(words)},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", "enum": list(words), "enumNames": list(words.values())},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": list(words)}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return await _elicit(ctx, "Please select", schema, "Elicitation completed")


async def _missing_capability(ctx: Context, _: CallToolRequestParams) -> Answer:
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        needed: dict[str, dict[str, object]] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs the client's sampling", needed)
    return _text("The client offers sampling")


async def _change_tools(_: Context, __: CallToolRequestParams) -> Answer:
    await BUS.publish(ToolsListChanged())
    return _text("tool list changed")


async def _change_prompts(_: Context, __: CallToolRequestParams) -> Answer:
    await BUS.publish(PromptsListChanged())
    return _text("prompt list changed")


def _ask(message: str = "What is your name?", schema: dict[str, Any] = _NAME) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))


def _answered(answer: object, key: str) -> str:
    return str((answer.content or {}).get(key, "?")) if isinstance(answer, ElicitResult) else "?"


async def _needs_elicitation(_: Context, params: CallToolRequestParams) -> Answer:
    responses = params.input_responses or {}
    if "user_name" in responses:
        return _text(f"Hello, {_answered(responses['user_name'], 'name')}!")
    return InputRequiredResult(input_requests={"user_name": _ask()})


async def _needs_sampling(_: Context, params: CallToolRequestParams) -> Answer:
    match (params.input_responses or {}).get("capital_question"):
        case None:
            return InputRequiredResult(input_requests={"capital_question": _sample("What is the capital of France?")})
        case CreateMessageResult(content=TextContent(text=said)):
            return _text(f"Model said: {said}")
        case _:
            return _text("Model said: ?")


async def _needs_roots(_: Context, params: CallToolRequestParams) -> Answer:
    match (params.input_responses or {}).get("client_roots"):
        case None:
            return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})
        case ListRootsResult(roots=roots):
            return _text(f"Client exposed {len(roots)} root(s).")
        case _:
            return _text("Client exposed 0 root(s).")


async def _needs_state(_: Context, params: CallToolRequestParams) -> Answer:
    if "confirm" in (params.input_responses or {}) and params.request_state == "nonce":
        return _text("state-ok: confirmation received")
    return InputRequiredResult(input_requests={"confirm": _ask("Please confirm", _OK)}, request_state="nonce")


async def _needs_untampered_state(_: Context, params: CallToolRequestParams) -> Answer:
    if params.request_state is not None:
        return _text(f"state-ok: {params.request_state}")
    return InputRequiredResult(input_requests={"confirm": _ask("Please confirm", _OK)}, request_state="round-1")


async def _needs_much(_: Context, params: CallToolRequestParams) -> Answer:
    needed: dict[str, InputRequest] = {
        "user_name": _ask(),
        "greeting": _sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    if needed.keys() <= (params.input_responses or {}).keys():
        return _text("All inputs received.")
    return InputRequiredResult(input_requests=needed, request_state="multiple-inputs")


async def _needs_rounds(_: Context, params: CallToolRequestParams) -> Answer:
    state = json.loads(params.request_state) if params.request_state else {}
    responses = params.input_responses or {}
    if state.get("round") == 1 and "step1" in responses:
        color = _ask("Step 2: What is your favorite color?", _object(color={"type": "string"}))
        state = {"round": 2, "name": _answered(responses["step1"], "name")}
        return InputRequiredResult(input_requests={"step2": color}, request_state=json.dumps(state))
    if state.get("round") == 2 and "step2" in responses:
        return _text(f"{state['name']} likes {_answered(responses['step2'], 'color')}.")
    first = _ask("Step 1: What is your name?")
    return InputRequiredResult(input_requests={"step1": first}, request_state=json.dumps({"round": 1}))


async def _needs_what_is_offered(ctx: Context, _: CallToolRequestParams) -> Answer:
    offered = ctx.session.client_capabilities
    needed: dict[str, InputRequest] = {}
    if offered is None or offered.sampling is not None:
        needed["sample"] = _sample("Say hello")
    if offered is None or offered.elicitation is not None:
        needed["ask"] = _ask()
    return InputRequiredResult(input_requests=needed, request_state="capability-gated")


async def prompt_with_input(params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    responses = params.input_responses or {}
    if "user_context" in responses:
        text = f"Use the following context: {_answered(responses['user_context'], 'context')}"
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])
    question = _ask("What context should the prompt use?", _object(context={"type": "string"}))
    return InputRequiredResult(input_requests={"user_context": question})


DIALOGS: Final[Mapping[str, Dialog]] = {
    "test_tool_with_logging": _logging,
    "test_logging_tool": _logging,
    "test_tool_with_progress": _progress,
    "test_sampling": _sampling,
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _elicitation_defaults,
    "test_elicitation_sep1330_enums": _elicitation_enums,
    "test_streaming_elicitation": _needs_elicitation,
    "test_missing_capability": _missing_capability,
    "test_trigger_tool_change": _change_tools,
    "test_trigger_prompt_change": _change_prompts,
    "test_input_required_result_elicitation": _needs_elicitation,
    "test_input_required_result_sampling": _needs_sampling,
    "test_input_required_result_list_roots": _needs_roots,
    "test_input_required_result_request_state": _needs_state,
    "test_input_required_result_tampered_state": _needs_untampered_state,
    "test_input_required_result_multiple_inputs": _needs_much,
    "test_input_required_result_multi_round": _needs_rounds,
    "test_input_required_result_capabilities": _needs_what_is_offered,
}
