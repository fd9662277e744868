"""A checkout laid out as SwarmKit's is, with the faults that its notes are known to have. Every word of it is ours.

Schemas and sources are small ones of ours, or those of an installed SwarmKit where the caller has one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SUBJECTS: Final = (
    "Model provider", "Skill catalogue", "Topology loader", "Audit journal", "Human approval", "Memory store",
    "Trigger scheduler", "Command packs", "Credential service", "Drift monitor", "Gate funnel", "Workspace properties",
    "Tool gateway",
)  # fmt: skip
ASPECTS: Final = (
    "interface", "life cycle", "error handling", "storage layout", "permissions", "migration", "test plan",
    "observability", "limits", "naming rules",
)  # fmt: skip
PANEL: Final = ("enrollment", "heartbeat", "auth", "roles", "sessions", "registry")
MALFORMED: Final = (3, 27, 51, 75, 99, 123)  # notes whose front matter is no YAML
STRAY_RULE: Final = tuple(range(0, 130, 4))[:25]  # notes without front matter that have a line of dashes
ARTIFACTS: Final = (
    "approval-policy", "archetype", "contract", "executor-adapter", "funnel", "model-provider", "role-registry",
    "skill", "topology", "trigger", "workspace",
)  # fmt: skip
PROTOCOL: Final = (
    "credential", "fleet-identity", "instance-state", "join-request", "join-response", "register-request",
    "register-response",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Title:
    """A note as a reader knows it."""

    slug: str
    title: str


def titles() -> list[Title]:
    """The 130 notes, by number."""
    pairs = [(subject, aspect) for subject in SUBJECTS for aspect in ASPECTS]
    return [Title(f"{subject} {aspect}".lower().replace(" ", "-"), f"{subject} {aspect}") for subject, aspect in pairs]


def make_repo(root: Path, *, installed: Path | None = None) -> Path:
    """Fill ``root``. ``installed`` is the folder of packages that holds ``swarmkit_schema`` and ``swarmkit_runtime``:
    their schemas and sources then take the place of ours."""
    for path, text in _files():
        write(root / path, text)
    if installed is None:
        for path, text in (*_schemas(), *SOURCES.items()):
            write(root / path, text)
    else:
        shutil.copytree(installed / "swarmkit_schema" / "_schemas", root / "packages/schema/schemas")
        shutil.copytree(
            installed / "swarmkit_runtime",
            root / "packages/runtime/src/swarmkit_runtime",
            ignore=lambda _, names: [name for name in names if "." in name and not name.endswith(".py")],
        )
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _files() -> Iterator[tuple[str, str]]:
    for number, note in enumerate(titles()):
        text = _note(number, note)
        yield f"design/details/{note.slug}.md", text
        yield f"docs/site/design/{note.slug}.md", text
        if number % 10 == 0:
            yield f"docs/site/guides/{note.slug}.md", text
    for number in range(30):
        name = PANEL[number % len(PANEL)]
        yield (
            f"design/details/control-plane/{number:02}-{name}.md",
            f"# Panel {number}: {name}\n\nThe panel's {name}.\n",
        )
    yield "design/details/README.md", "# Design notes\n\n" + "".join(f"- {note.title}\n" for note in titles())
    yield "design/details/_template.md", "---\ntitle: Title here\n---\n# Title here\n"
    yield from EXTRA.items()
    yield from ((f"reference/skills/{name}.yaml", text) for name, text in _skills())
    yield from ((f"examples/hello/{path}", text) for path, text in WORKSPACE.items())


def _note(number: int, note: Title) -> str:
    other = titles()[(number * 7 + 3) % 130].title
    heading = f"How the {note.title.lower()} works" if number % 5 == 1 else note.title
    body = (
        f"# {heading}\n\n{_said_in_body(number)}Notes on the {note.title.lower()}, beside *{other}*.\n\n"
        f"## Goal\n\nKeep the {note.title.lower()} small. It never touches what {other} decides.\n\n"
        f"```sh\n## not a heading\nrun --number {number}\n```\n\n"
        f"## Non-goals\n\nWhat {other} does. Word of this note: quartz{number}.\n"
    )
    if number % 2:
        return f"---\n{_front_matter(number, note, other)}---\n\n{body}"
    if number % 4:
        return f"---\nstatus: draft\n---\n{body}"
    table = "| Part | Done |\n|---|---|\n| first | yes |\n\n"
    rule = f"---\n\nBehind the rule of note {number}.\n" if number in STRAY_RULE else ""
    return body.replace("## Goal", f"{table}{rule}## Goal", 1)


def _said_in_body(number: int) -> str:
    return f"**Status:** agreed\n**Tags:** body-tag, Shared Tag, n{number}\n\n" if number % 12 == 0 else ""


def _front_matter(number: int, note: Title, other: str) -> str:
    if number in MALFORMED:
        first = "`agents`" if number % 8 == 3 else "decided"
        return (
            f"title: {note.title}\ndescription: {first}: see {other}: it came first\nstatus: done\n"
            f"tags: [broken, 'Shared Tag', n{number}\n"
        )
    tags = {
        1: f"tags:\n  - listed\n  - Shared Tag\n  - n{number}\n",
        3: f"tags: [inline, Shared Tag, n{number}]\n",
        5: f"tags: commas, Shared Tag, n{number}\n",
        7: f"Tags: '#marked, #Shared Tag, n{number}'\n",
    }[number % 8]
    return f"title: {note.title}\ndescription: >\n  About the {note.title.lower()},\n  folded.\nstatus: done\n{tags}"


def _skills() -> Iterator[tuple[str, str]]:
    for number in range(27):
        name = f"skill-{number:02}"
        backing = (
            f"  type: mcp_tool\n  server: server-{number % 4}\n  tool: tool_{number}\n"
            if number % 3
            else "  type: llm_prompt\n  prompt: Say what you see.\n"
        )
        yield name, SKILL.format(id=name, name=f"Skill number {number}", backing=backing)


def _schemas() -> Iterator[tuple[str, str]]:
    for name in ARTIFACTS:
        yield f"packages/schema/schemas/{name}.schema.json", json.dumps(_schema(name), indent=2)
    for name in PROTOCOL:
        schema: dict[str, object] = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"https://schemas.example.test/protocol/{name}.schema.json",
            "title": f"Fleet {name}",
            "type": "object",
            "properties": {"id": {"type": "string"}},
        }
        if name.endswith("-response"):
            schema["properties"] = {"credential": {"$ref": "credential.schema.json"}}
        yield f"packages/schema/schemas/protocol/{name}.schema.json", json.dumps(schema, indent=2)


def _schema(name: str) -> Mapping[str, object]:
    text = {"type": "string", "minLength": 1}
    properties: dict[str, object] = {
        "apiVersion": {"const": "swarmkit/v1"},
        "kind": {"type": "string"},
        "metadata": {"type": "object", "properties": {"id": text, "name": text}},
    }
    if name == "workspace":
        properties["mcp_servers"] = {
            "type": "array",
            "description": "Processes that offer tools to skills.",
            "items": {"type": "object", "required": ["id", "transport"]},
        }
    if name == "topology":
        properties["agents"] = {"type": "object", "properties": {"root": {"$ref": "#/$defs/agent"}}}
    schema: dict[str, object] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:example:schema:{name}",
        "title": f"Small {name}",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata"],
        "properties": properties,
    }
    if name == "topology":
        role = {"enum": ["root", "leader", "worker"], "description": "Where the agent stands in the tree."}
        schema["$defs"] = {"agent": {"type": "object", "required": ["id", "role"], "properties": {"role": role}}}
    return schema


SKILL: Final = """\
apiVersion: swarmkit/v1
kind: Skill
metadata:
  id: {id}
  name: {name}
  description: Does the one thing that its name says.
category: capability
implementation:
{backing}provenance:
  authored_by: human
  version: 1.0.0
"""

WORKSPACE: Final[Mapping[str, str]] = {
    "workspace.yaml": """\
apiVersion: swarmkit/v1
kind: Workspace
metadata:
  id: hello
  name: Hello
mcp_servers:
  - id: docs
    transport: stdio
    command: ["gateway", "knowledge-server"]
""",
    "skills/look-up.yaml": SKILL.format(
        id="look-up", name="Look up", backing="  type: mcp_tool\n  server: docs\n  tool: search_docs\n"
    ),
    "archetypes/greeter.yaml": """\
apiVersion: swarmkit/v1
kind: Archetype
metadata:
  id: greeter
  name: Greeter
  description: Greets whoever comes along.
role: worker
defaults:
  model: {provider: mock, name: mock}
  prompt: {system: Greet people.}
  skills: [look-up]
provenance:
  authored_by: human
  version: 1.0.0
""",
    "topologies/hello.yaml": """\
apiVersion: swarmkit/v1
kind: Topology
metadata:
  name: hello
  version: 1.0.0
agents:
  root:
    id: root
    role: root
    model: {provider: mock, name: mock}
    prompt: {system: Hand over.}
    children:
      - id: greeter
        role: worker
        archetype: greeter
""",
    "triggers/daily.yaml": """\
apiVersion: swarmkit/v1
kind: Trigger
metadata:
  id: daily
  name: Daily
  description: Says hello every day.
type: cron
targets: [hello]
config: {expression: "0 9 * * *"}
""",
    "README.md": "# Hello example\n\nA workspace with one agent that greets.\n",
}

EXTRA: Final[Mapping[str, str]] = {
    "README.md": "# A kit for swarms\n\nStart with *hello*.\n\n## Installing\n\nUse the installer: marmalade.\n",
    "CLAUDE.md": "# Working on the kit\n\nRun the checks before you push: rhubarb.\n",
    "llms.txt": "# The kit, for models\n\n- [Start](README.md): tamarind\n",
    "packages/runtime/CLAUDE.md": "# The runtime package\n\nWhat is special in it: juniper.\n",
    "packages/schema/CLAUDE.md": "# The schema package\n\nOne schema, two languages: sorrel.\n",
    "docs/notes/testing.md": "# Testing discipline\n\nNever mock the clock: cardamom.\n",
    "docs/notes/errors.md": (
        "# Errors in words\n\n| Code | Meaning |\n|---|---|\n| `agent.only-documented` | An agent that only this page"
        " knows of |\n\nSee also `workspace.yaml` and `agent.unknown-skill`.\n"
    ),
    "docs/guides/first-swarm.md": "# Your first swarm\n\nOne agent, one skill: elderflower.\n",
    "docs/site/guides/images.md": "# Images for models\n\nHow a picture reaches one: saffron.\n",
    "docs/site/index.md": "# The site\n\nNot for searching: vanilla.\n",
}

SOURCES: Final[Mapping[str, str]] = {
    "packages/runtime/src/kit/errors.py": """\
class ResolutionError(Exception):
    def __init__(self, code, message, artifact_path, suggestion=None):
        self.code = code
""",
    "packages/runtime/src/kit/resolver.py": '''\
from kit.errors import ResolutionError

RULE_TO_CODE: dict[str, str] = {"required": "schema.required-field", "minLength": "schema.length"}


class TooDeep(Exception):
    """A file lies deeper than we look."""

    def __init__(self, path):
        super().__init__(f"The file {path} lies too deep.")


class Unsaid(Exception):
    """Nothing was said."""


def code_of(rule):
    return RULE_TO_CODE.get(rule, "schema.other")


def bridge(exc: TooDeep):
    return ResolutionError(code="workspace.deep-nesting", message=str(exc), artifact_path=None)


def resolve(agent, skills, path):
    hint = f"Have a skill called {agent.skill!r}, " "or take it out."
    if agent.skill not in skills:
        yield ResolutionError(
            code="agent.unknown-skill",
            message=f"The agent {agent.id!r} wants {agent.skill!r}, which is nowhere.",
            artifact_path=path,
            suggestion=hint,
        )
    if not agent.skill:
        yield ResolutionError(
            code="agent.unknown-skill", message="The agent wants a skill without a name.", artifact_path=path
        )
    try:
        agent.check()
    except Unsaid as exc:
        yield ResolutionError("agent.bad-role", str(exc), path)
    yield ResolutionError(code="agent.depends-on-cycle", message=str(agent), artifact_path=path)
''',
    "packages/runtime/tests/test_resolver.py": 'ResolutionError(code="agent.made-up", message="m")\n',
}
