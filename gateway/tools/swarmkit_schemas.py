"""The JSON Schemas of toolset ``swarmkit``: plain types, bounds as the tool contract gives them."""

from __future__ import annotations

from gateway.tools.schema_parts import FLAG, MAX_QUERY, SCORE, TEXT, TEXTS, array, integer, record, string

MAX_RESULTS = 5

SEARCH_INPUT = record(
    ["query"],
    query=string("What you want to know, in a few words; a title, a field, a term.", max_length=MAX_QUERY),
    max_results=integer("At most so many sections.", default=MAX_RESULTS, minimum=1, maximum=50),
)
SEARCH_OUTPUT = record(
    ["results"],
    results=array(
        record(["path", "heading", "snippet", "score"], path=TEXT, heading=TEXT, snippet=TEXT, score=SCORE),
        "Best first.",
    ),
)
SCHEMA_INPUT = record(["artifact_type"], artifact_type=string("A name from list_schemas, such as topology or skill."))
SCHEMA_OUTPUT = {"type": "object", "description": "The JSON Schema as it stands."}
SCHEMAS_INPUT = record([])
SCHEMAS_OUTPUT = record(["schemas"], schemas=array(TEXT, "Names for get_schema."))
NOTE_INPUT = record(["slug"], slug=string("The note, as its path below design/details without .md."))
NOTE_OUTPUT = record(
    ["slug", "path", "frontmatter", "content"],
    slug=TEXT,
    path=TEXT,
    frontmatter={"type": "object", "description": "What the note's front matter says."},
    content=TEXT,
)
NOTES_INPUT = record([], tag=string("Only notes with this tag."))
NOTES_OUTPUT = record(
    ["notes"],
    notes=array(
        record(
            ["slug", "title", "description", "tags", "status", "path"],
            slug=TEXT,
            title=TEXT,
            description=TEXT,
            tags=TEXTS,
            status=TEXT,
            path=TEXT,
        ),
        "By path.",
    ),
)
ERROR_INPUT = record(["code"], code=string("The code, such as agent.unknown-skill."))
ERROR_OUTPUT = record(
    ["code", "description", "fix", "sources"],
    code=TEXT,
    description=TEXT,
    fix=TEXT,
    sources=array(TEXT, "Where that is from: path:line of sources, paths of documents."),
)
VALIDATE_INPUT = record(
    ["path"],
    path=string(
        "The folder with workspace.yaml: its whole path, or the one from the SwarmKit checkout.", max_length=4096
    ),
)
_AGENT = record(
    ["id", "archetype", "skills", "children"], id=TEXT, archetype=TEXT, skills=TEXTS, children=array(TEXT, "Their ids.")
)
_ERROR = record(
    ["code", "message", "artifact_path", "yaml_pointer", "rule", "suggestion"],
    code=TEXT,
    message=TEXT,
    artifact_path=TEXT,
    yaml_pointer=TEXT,
    line={"type": "integer", "minimum": 1},
    rule=TEXT,
    suggestion=TEXT,
)
VALIDATE_OUTPUT = record(
    ["valid", "engine", "complete", "workspace", "topologies", "skills", "triggers", "errors"],
    valid=FLAG,
    engine=TEXT,
    complete={**FLAG, "description": "Whether all was checked; if not, valid says only that nothing wrong was seen."},
    workspace=TEXT,
    topologies=array(
        record(["name", "agents"], name=TEXT, agents=array(_AGENT, "Parents before their children.")), "By name."
    ),
    skills=TEXTS,
    triggers=TEXTS,
    errors=array(_ERROR, "In the order in which they were found."),
)
SKILLS_INPUT = record([])
SKILLS_OUTPUT = record(
    ["skills"],
    skills=array(
        record(
            ["id", "name", "description", "category", "server", "tool", "path"],
            id=TEXT,
            name=TEXT,
            description=TEXT,
            category=TEXT,
            server=TEXT,
            tool=TEXT,
            path=TEXT,
            error={**TEXT, "description": "Why the file cannot be read."},
        ),
        "By path.",
    ),
)
