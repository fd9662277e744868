"""Fixtures that the official conformance suite asks a server for: tools, resources and prompts of fixed content."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Final

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ErrorData,
    GetPromptResult,
    ImageContent,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="  # one pixel
)
WAV: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="  # one sample

SIMPLE_TEXT: Final = "This is a simple text response for testing."
FAILURE: Final = "This tool intentionally returns an error for testing"


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


_CONTENT: Final[Mapping[str, list[ContentBlock]]] = {
    "test_image_content": [ImageContent(data=PNG, mime_type="image/png")],
    "test_audio_content": [AudioContent(data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        TextContent(text="Multiple content types test:"),
        ImageContent(data=PNG, mime_type="image/png"),
        _embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}'),
    ],
}

CONTENT_TOOLS: Final = {name: CallToolResult(content=blocks) for name, blocks in _CONTENT.items()}

# What no tool of ours has, and a client must get as it is (SEP-1613, SEP-2106)
FULL_SCHEMA: Final[Mapping[str, object]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

RESOURCES: Final = [
    Resource(uri="test://static-text", name="static-text", mime_type="text/plain"),
    Resource(uri="test://static-binary", name="static-binary", mime_type="image/png"),
    Resource(uri="test://watched-resource", name="watched-resource", mime_type="text/plain"),
]
TEMPLATES: Final = [ResourceTemplate(uri_template="test://template/{id}/data", name="template")]


def read_resource(uri: str) -> ReadResourceResult | ErrorData:
    if uri == "test://static-binary":
        png = BlobResourceContents(
            uri=uri, mime_type="image/png", blob=base64.b64encode(base64.b64decode(PNG)).decode()
        )
        return ReadResourceResult(contents=[png])
    if uri.startswith("test://template/") and uri.endswith("/data"):
        id_ = uri.removeprefix("test://template/").removesuffix("/data")
        text = json.dumps({"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"})
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="application/json", text=text)])
    if any(uri == resource.uri for resource in RESOURCES):
        text = "This is the content of the static text resource."
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="text/plain", text=text)])
    return ErrorData(code=-32602, message="Resource not found", data={"uri": uri})


_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
PROMPTS: Final = [
    Prompt(
        name=name,
        description="A fixture.",
        arguments=[PromptArgument(name=argument, description="Any text", required=True) for argument in arguments],
    )
    for name, arguments in _ARGUMENTS.items()
]


def get_prompt(name: str, arguments: Mapping[str, str]) -> GetPromptResult | ErrorData:
    match name:
        case "test_simple_prompt":
            return _prompt(TextContent(text="This is a simple prompt for testing."))
        case "test_prompt_with_arguments":
            text = f"Prompt with arguments: arg1='{arguments.get('arg1')}', arg2='{arguments.get('arg2')}'"
            return _prompt(TextContent(text=text))
        case "test_prompt_with_embedded_resource":
            resource = _embedded(arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return _prompt(resource, TextContent(text="Please process the embedded resource above."))
        case "test_prompt_with_image":
            image = ImageContent(data=PNG, mime_type="image/png")
            return _prompt(image, TextContent(text="Please analyze the image above."))
        case _:
            return ErrorData(code=-32602, message="Prompt not found")


def _prompt(*blocks: ContentBlock) -> GetPromptResult:
    return GetPromptResult(messages=[PromptMessage(role="user", content=block) for block in blocks])
