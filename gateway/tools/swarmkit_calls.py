"""What the tools of toolset ``swarmkit`` do: from validated arguments to an answer in the contract's shape.

Apart from their declarations, since nothing here is needed before the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio.to_thread

from gateway.answers import content
from gateway.tools.registry import Result, Structured
from gateway.tools.swarmkit_schemas import MAX_RESULTS
from sync.corpora.swarmkit.corpus import Corpus

Content = Mapping[str, object]


async def call(corpus: Corpus, name: str, arguments: Mapping[str, Any]) -> Result:
    """Call the tool ``name`` in a worker thread: files are read, and a check may take seconds."""
    return Structured(await anyio.to_thread.run_sync(CALLS[name], corpus, arguments, abandon_on_cancel=True))


def _search(corpus: Corpus, arguments: Mapping[str, Any]) -> Content:
    hits = corpus.search(arguments["query"], arguments.get("max_results", MAX_RESULTS))
    return {"results": [content(hit) for hit in hits]}


def _get_schema(corpus: Corpus, arguments: Mapping[str, Any]) -> Content:
    return corpus.schema(arguments["artifact_type"])


def _list_schemas(corpus: Corpus, _: Mapping[str, Any]) -> Content:
    return {"schemas": corpus.schemas()}


def _get_note(corpus: Corpus, arguments: Mapping[str, Any]) -> Content:
    return content(corpus.note(arguments["slug"]))


def _list_notes(corpus: Corpus, arguments: Mapping[str, Any]) -> Content:
    return {"notes": [content(note) for note in corpus.notes(arguments.get("tag"))]}


def _get_error(corpus: Corpus, arguments: Mapping[str, Any]) -> Content:
    return content(corpus.error(arguments["code"]))


def _validate(corpus: Corpus, arguments: Mapping[str, Any]) -> Content:
    return corpus.validate(arguments["path"])


def _list_skills(corpus: Corpus, _: Mapping[str, Any]) -> Content:
    return {"skills": [content(skill) for skill in corpus.skills()]}


CALLS: Final[Mapping[str, Callable[[Corpus, Mapping[str, Any]], Content]]] = {
    "search_docs": _search,
    "get_schema": _get_schema,
    "list_schemas": _list_schemas,
    "get_design_note": _get_note,
    "list_design_notes": _list_notes,
    "get_error_reference": _get_error,
    "validate_workspace": _validate,
    "list_reference_skills": _list_skills,
}
