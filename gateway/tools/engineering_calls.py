"""What the tools of toolset ``engineering`` do: from validated arguments to an answer in the contract's shape.

Apart from their declarations, since nothing here is needed before the first call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import anyio.to_thread

from gateway.answers import content
from gateway.tools.engineering_schemas import LIMIT
from gateway.tools.registry import Result, Structured, Texts
from sync.corpora.engineering.base import KnowledgeBase


async def call(base: KnowledgeBase, name: str, arguments: Mapping[str, Any]) -> Result:
    """Let the tool called ``name`` answer, in a thread: it reads files."""
    return await anyio.to_thread.run_sync(partial(CALLS[name], base, arguments))


def search(base: KnowledgeBase, arguments: Mapping[str, Any]) -> Result:
    hits = base.search(arguments["query"], arguments.get("limit", LIMIT))
    return Structured({"results": [content(hit) for hit in hits]})


def topics(base: KnowledgeBase, _: Mapping[str, Any]) -> Result:
    return Structured({"documents": [content(topic) for topic in base.topics()]})


def get(base: KnowledgeBase, arguments: Mapping[str, Any]) -> Result:
    about = content(base.get(arguments["topicOrPath"]))
    text = about.pop("text")
    return Texts((text, json.dumps(about, ensure_ascii=False, separators=(",", ":"))))


def capture(base: KnowledgeBase, arguments: Mapping[str, Any]) -> Result:
    return Structured(content(base.capture(arguments["content"], arguments.get("suggestedTopic"))))


def create(base: KnowledgeBase, arguments: Mapping[str, Any]) -> Result:
    return Structured(content(base.create(arguments["topic"], arguments["title"], arguments["content"])))


def update(base: KnowledgeBase, arguments: Mapping[str, Any]) -> Result:
    made = base.update(
        arguments["topicOrPath"],
        arguments["heading"],
        arguments["content"],
        mode=arguments.get("mode", "append"),
        expected=arguments.get("etag"),
    )
    return Structured(content(made))


Call = Callable[[KnowledgeBase, Mapping[str, Any]], Result]

CALLS: Final[Mapping[str, Call]] = {
    "search_knowledge": search,
    "list_knowledge_topics": topics,
    "get_knowledge": get,
    "capture_knowledge": capture,
    "create_knowledge": create,
    "update_knowledge": update,
}
