"""A workspace's files as they stand: what is declared in them, and where in them something is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

FOLDERS = ("topologies", "archetypes", "skills", "triggers", "schedules", "adapters", "funnels", "roles", "contracts")
MAX_FILE = 4 * 1024 * 1024  # bytes
MAX_AGENTS = 10_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file before any schema is asked: ``code`` and ``message`` as in an answer, ``line`` where
    it is known."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class Artifact:
    """A YAML file of a workspace: its content, or why there is none."""

    path: Path
    raw: Mapping[str, Any]
    problem: Problem | None = None

    @property
    def kind(self) -> str:
        """``Topology``, ``Skill`` …: as the file says."""
        return _text(self.raw.get("kind"))

    @property
    def id(self) -> str:
        """Its id, or the name that takes the place of one."""
        metadata = self.raw.get("metadata")
        return _text(metadata.get("id") or metadata.get("name")) if isinstance(metadata, dict) else ""


class Workspace:
    """The files of the workspace in the folder ``root``, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._nodes: dict[Path, yaml.Node | None] = {}

    @cached_property
    def artifacts(self) -> tuple[Artifact, ...]:
        """The workspace file first, if there is one."""
        return tuple(map(read, self._paths()))

    def _paths(self) -> Iterator[Path]:
        yield from [path for path in (self.root / "workspace.yaml", self.root / "workspace.yml") if path.is_file()][:1]
        for folder in FOLDERS:
            for depth in ("*", "*/*"):
                found = sorted((self.root / folder).glob(depth))
                yield from (path for path in found if path.suffix in (".yaml", ".yml") and path.is_file())

    def of_kind(self, kind: str) -> list[Artifact]:
        return [artifact for artifact in self.artifacts if artifact.kind == kind]

    def outline(self) -> dict[str, Any]:
        """What the files declare, resolved or not."""
        return {
            "workspace": next((artifact.id for artifact in self.of_kind("Workspace")), ""),
            "topologies": [
                {"name": artifact.id, "agents": list(_agents(artifact.raw.get("agents")))}
                for artifact in self.of_kind("Topology")
            ],
            "skills": sorted({artifact.id for artifact in self.of_kind("Skill")} - {""}),
            "triggers": sorted({artifact.id for artifact in self.of_kind("Trigger")} - {""}),
        }

    def line(self, path: Path, pointer: str) -> int | None:
        """The line of a file at which a JSON pointer (RFC 6901) leads to something; ``None`` if it does not."""
        if not pointer.startswith("/"):
            return None
        node = self._root_node(path)
        line = None
        for part in pointer[1:].split("/"):
            found = _step(node, part.replace("~1", "/").replace("~0", "~"))
            if found is None:
                return None
            line, node = found
        return line

    def _root_node(self, path: Path) -> yaml.Node | None:
        if path not in self._nodes:
            try:
                self._nodes[path] = yaml.compose(path.read_text("utf-8"), Loader=_LOADER)
            except (OSError, ValueError, yaml.YAMLError, RecursionError):
                self._nodes[path] = None
        return self._nodes[path]


def read(path: Path) -> Artifact:
    """A file's content; nothing it holds raises."""
    try:
        if path.stat().st_size > MAX_FILE:
            return Artifact(path, {}, Problem("workspace.malformed", f"larger than {MAX_FILE} bytes"))
        raw = yaml.load(path.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 one of the safe loaders
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or type(error).__name__
        line = None if mark is None else mark.line + 1
        return Artifact(path, {}, Problem("workspace.yaml-parse", f"not valid YAML: {reason}", line))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or ("not UTF-8 text" if isinstance(error, ValueError) else "too deep")
        return Artifact(path, {}, Problem("workspace.yaml-parse", f"cannot be read: {why}"))
    if not isinstance(raw, dict):
        return Artifact(path, {}, Problem("workspace.malformed", "the file holds no mapping of keys to values"))
    return Artifact(path, raw)


def _step(node: yaml.Node | None, part: str) -> tuple[int, yaml.Node] | None:
    """Where a part of a pointer leads from a node: the line and the node there."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
        item = node.value[int(part)]
        return item.start_mark.line + 1, item
    return None


def _agents(declared: object) -> Iterator[dict[str, Any]]:
    """The agents of a topology, parents before their children."""
    waiting = list(declared.values())[::-1] if isinstance(declared, dict) else []
    for _ in range(MAX_AGENTS):
        if not waiting:
            return
        agent = waiting.pop()
        if not isinstance(agent, dict):
            continue
        children = [child for child in _items(agent.get("children")) if isinstance(child, dict)]
        skills = [*_items(agent.get("skills")), *_items(agent.get("skills_additional"))]
        yield {
            "id": _text(agent.get("id")),
            "archetype": _text(agent.get("archetype")),
            "skills": [_text(skill.get("id") if isinstance(skill, dict) else skill) for skill in skills],
            "children": [_text(child.get("id")) for child in children],
        }
        waiting += reversed(children)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return "" if value is None else str(value)
