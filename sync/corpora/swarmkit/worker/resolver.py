"""The engine that is SwarmKit itself: the installed resolver, its schemas compiled once instead of for each file."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from .artifacts import Workspace
from .report import Finding, reported

FAILED = "resolver.failed"


class Resolver:
    """``swarmkit_runtime``, as it is installed here."""

    def __init__(self) -> None:
        self._resolver: Any = importlib.import_module("swarmkit_runtime.resolver")
        self._errors = importlib.import_module("swarmkit_runtime.errors").ResolutionErrors
        self._packages = [_folder("swarmkit_runtime"), _folder("swarmkit_schema")]
        self.name = f"swarmkit-runtime {version('swarmkit-runtime')}"
        self.sources = str(self._packages[0])
        self._stamps = self._stamp()
        _quicken(vars(self._resolver))

    def is_current(self) -> bool:
        return self._stamp() == self._stamps

    def _stamp(self) -> list[tuple[int, int]]:
        files = [package / "__init__.py" for package in self._packages]
        return [(stat.st_mtime_ns, stat.st_ino) for stat in map(Path.stat, files)]

    def check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        workspace = Workspace(Path(request["workspace"]))
        try:
            found = self._resolver.resolve_workspace(workspace.root)
        except self._errors as error:
            return self._invalid(workspace, [_finding(one) for one in error.errors], complete=True)
        except MemoryError:
            raise
        except Exception as error:  # a resolver that fails says nothing about the workspace, or all
            message = f"the resolver itself failed: {type(error).__name__}: {error}"
            return self._invalid(workspace, [*_problems(workspace), Finding(FAILED, message, workspace.root)])
        return {
            "valid": True,
            "engine": self.name,
            "complete": True,
            **workspace.outline(),
            "topologies": [
                {"name": name, "agents": list(_agents(topology.root))}
                for name, topology in sorted(found.topologies.items())
                if "@" not in name  # another name of one that is there by its own
            ],
            "skills": sorted(found.skills),
            "errors": [],
        }

    def _invalid(self, workspace: Workspace, findings: list[Finding], *, complete: bool = False) -> dict[str, Any]:
        errors = reported(findings, workspace, self._packages)
        return {"valid": False, "engine": self.name, "complete": complete, **workspace.outline(), "errors": errors}


def _quicken(resolver: dict[str, Any]) -> None:
    """Let the resolver's module do the same in less time: a check shall take less than a person notices."""
    if "validate" in resolver:
        resolver["validate"] = _validators(importlib.import_module("swarmkit_schema"))
    if hasattr(yaml, "CSafeLoader"):
        vars(yaml)["safe_load"] = partial(yaml.load, Loader=yaml.CSafeLoader)


def _folder(package: str) -> Path:
    file = importlib.import_module(package).__file__
    if file is None:
        raise ImportError(f"{package} has no file")
    return Path(file).parent


def _validators(schema: Any) -> Callable[[str, Any], None]:
    """What ``swarmkit_schema.validate`` does, without reading, checking and compiling a schema for each artifact."""
    exceptions = importlib.import_module("jsonschema.exceptions")
    validator_for = importlib.import_module("jsonschema.validators").validator_for
    compiled: dict[str, Any] = {}

    def compile_one(name: str) -> Any:
        loaded = schema.get_schema(name)
        cls = validator_for(loaded)
        cls.check_schema(loaded)
        return cls(loaded)

    def validate(name: str, instance: Any) -> None:
        if name not in compiled:
            compiled[name] = compile_one(name)
        error = exceptions.best_match(compiled[name].iter_errors(instance))
        if error is not None:
            raise error

    for file in _folder("swarmkit_schema").glob("_schemas/*.schema.json"):  # now, so that no check has to
        name = file.name.removesuffix(".schema.json")
        compiled[name] = compile_one(name)
        list(compiled[name].iter_errors({}))
    return validate


def _finding(error: Any) -> Finding:
    return Finding(
        str(error.code),
        str(error.message),
        Path(error.artifact_path),
        error.yaml_pointer or "",
        error.rule or "",
        error.suggestion or "",
    )


def _problems(workspace: Workspace) -> Iterator[Finding]:
    """The files that cannot be read, which may be why the resolver failed."""
    for artifact in workspace.artifacts:
        if artifact.problem is not None:
            yield Finding(artifact.problem.code, artifact.problem.message, artifact.path, line=artifact.problem.line)


def _agents(agent: Any) -> Iterator[dict[str, Any]]:
    children: Sequence[Any] = agent.children
    yield {
        "id": agent.id,
        "archetype": agent.source_archetype or "",
        "skills": [skill.id for skill in agent.skills],
        "children": [child.id for child in children],
    }
    for child in children:
        yield from _agents(child)
