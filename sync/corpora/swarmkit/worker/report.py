"""Errors as an answer shows them: short, with lines, without absolute paths and declared secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .artifacts import Workspace, read

MAX_ERRORS = 500
MAX_MESSAGE = 1_000  # code points
MIN_SECRET = 4  # code points: a shorter one stands in too many words to be taken out

_VARIABLE = re.compile(r"(?<!\$)\$\{[^}\n]{1,200}\}")
_LINE_POINTER = re.compile(r"/<line (\d+)>")


@dataclass(frozen=True)
class Finding:
    """An error as an engine gives it. ``pointer`` is a JSON pointer into the file at ``path``."""

    code: str
    message: str
    path: Path
    pointer: str = ""
    rule: str = ""
    suggestion: str = ""
    line: int | None = None


def reported(findings: Sequence[Finding], workspace: Workspace, packages: Sequence[Path] = ()) -> list[dict[str, Any]]:
    """The first errors, for an answer. ``packages`` are folders of installed ones, whose files may be named too."""
    clean = _Cleaner(workspace.root, packages)
    return [_entry(finding, workspace, clean) for finding in findings[:MAX_ERRORS]]


def _entry(finding: Finding, workspace: Workspace, clean: _Cleaner) -> dict[str, Any]:
    line, pointer = finding.line, finding.pointer
    if marked := _LINE_POINTER.fullmatch(pointer):
        line, pointer = int(marked[1]), ""
    elif line is None:
        line = workspace.line(finding.path, pointer)
    message = clean.text(finding.message)
    return {
        "code": finding.code,
        "message": _annotated(message),
        "artifact_path": clean.path(finding.path),
        "yaml_pointer": pointer,
        **({} if line is None else {"line": line}),
        "rule": clean.text(finding.rule),
        "suggestion": clean.text(finding.suggestion),
    }


def _annotated(message: str) -> str:
    """``message``, with a word on the variables that it names: what they stand for was not looked up."""
    names = list(dict.fromkeys(_VARIABLE.findall(message)))
    if not names:
        return message
    stand = "stands as it is" if len(names) == 1 else "stand as they are"
    return f"{message} ({', '.join(names[:5])} {stand}: this check reads no environment variables)"


class _Cleaner:
    """Takes out of texts what only the machine or the workspace's owner should see."""

    def __init__(self, root: Path, packages: Sequence[Path]) -> None:
        self._root = root
        self._names = {f"{package}/": f"{package.name}/" for package in packages}
        self._folders = [(f"{root}/", ""), *self._names.items(), (str(root), ".")]
        self._folders += [(f"{parent}/", "…/") for parent in root.parents if parent.parent != parent]
        self._secrets = sorted(_secrets(root), key=lambda secret: -len(secret[1]))

    def text(self, text: str) -> str:
        for folder, shown in self._folders:
            text = text.replace(folder, shown)
        for name, secret in self._secrets:
            text = text.replace(secret, f"[secret {name}]").replace(repr(secret)[1:-1], f"[secret {name}]")
        return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"

    def path(self, path: Path) -> str:
        """Relative to the workspace, or to where packages are."""
        if path.is_relative_to(self._root):
            return path.relative_to(self._root).as_posix()
        for folder, shown in self._names.items():
            if str(path).startswith(folder):
                return shown + str(path)[len(folder) :]
        return path.name


def _secrets(root: Path) -> Iterator[tuple[str, str]]:
    """Names and values of the properties that the workspace declares to be secret, and of all below such a name."""
    raw = read(root / "workspace.env.yaml").raw
    declared = raw.get("secrets")
    for name in declared if isinstance(declared, list) else ():
        value: object = raw
        for part in str(name).split("."):
            value = value.get(part) if isinstance(value, dict) else None
        yield from ((str(name), leaf) for leaf in _leaves(value))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif len(str(value)) >= MIN_SECRET:
        yield str(value)
