"""The JSON Schemas of toolset ``engineering``."""

from __future__ import annotations

from typing import Final

from gateway.tools.schema_parts import FLAG, MAX_QUERY, SCORE, TEXT, TEXTS, array, integer, record, string

LIMIT: Final = 10
MAX_CONTENT: Final = 1024 * 1024  # code points
MAX_TITLE: Final = 300  # code points
MAX_ETAG: Final = 64

_REFERENCE: Final = string(
    "The document: its path (knowledge/api/apim.md or api/apim), its file name (apim) or its title, where one has it."
)
_CONTENT: Final = string("Markdown, without the heading.", max_length=MAX_CONTENT)

SEARCH_INPUT: Final = record(
    ["query"],
    query=string("What you want to know, in a few words.", max_length=MAX_QUERY),
    limit=integer("At most so many sections.", default=LIMIT, minimum=1, maximum=50),
)
SEARCH_OUTPUT: Final = record(
    ["results"],
    results=array(
        record(
            ["path", "title", "heading", "snippet", "score"],
            path=TEXT,
            title=TEXT,
            heading=TEXT,
            snippet=TEXT,
            score=SCORE,
        ),
        "Sections, best first; heading is empty for what stands before the first one.",
    ),
)
LIST_INPUT: Final = record([])
LIST_OUTPUT: Final = record(
    ["documents"],
    documents=array(record(["path", "title", "tags"], path=TEXT, title=TEXT, tags=TEXTS), "By path."),
)
GET_INPUT: Final = record(["topicOrPath"], topicOrPath=_REFERENCE)
CAPTURE_INPUT: Final = record(
    ["content"],
    content=string("What is to be remembered, as Markdown.", max_length=MAX_CONTENT),
    suggestedTopic=string("Where it may belong, such as api/apim."),
)
CAPTURE_OUTPUT: Final = record(["path", "timestamp"], path=TEXT, timestamp=TEXT)
CREATE_INPUT: Final = record(
    ["topic", "title", "content"],
    topic=string("Area and name, such as api/rate-limits; without an area it goes to general/."),
    title=string("The document's title, on one line.", max_length=MAX_TITLE),
    content=string("Markdown; the title is put above it. Front matter may come first.", max_length=MAX_CONTENT),
)
CREATE_OUTPUT: Final = record(["path", "title", "etag"], path=TEXT, title=TEXT, etag=TEXT)
UPDATE_INPUT: Final = record(
    ["topicOrPath", "heading", "content"],
    topicOrPath=_REFERENCE,
    heading=string("The section: its heading without #; Parent > Heading where several have that."),
    content=_CONTENT,
    mode={
        "type": "string",
        "enum": ["append", "replace"],
        "default": "append",
        "description": "Add to the section's own text, or put content in its place. Sections below it stay.",
    },
    etag=string("The document's etag as you read it: refused if it changed since.", max_length=MAX_ETAG),
)
UPDATE_OUTPUT: Final = record(["path", "etag", "created_section"], path=TEXT, etag=TEXT, created_section=FLAG)
