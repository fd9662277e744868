"""The errors that Python sources can raise: read from their syntax, nothing is run. Pure.

An error is ``ResolutionError(code="…", message=…, suggestion=…)``, or a call with a ``code`` that builds one. Texts are
templates: what is only known when the error is raised stands in braces. Where the message is that of an exception
which became the error, it is the one that the exception's class gives itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

ERROR: Final = "ResolutionError"
CODE: Final = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+")

_POSITIONS: Final = ("code", "message", "artifact_path", "yaml_pointer", "rule", "suggestion")
_DEPTH: Final = 8  # names that stand for names that stand for …


@dataclass(frozen=True, slots=True)
class Site:
    """A place that raises ``code``. ``message`` and ``suggestion`` may be empty. ``exception`` names the class whose
    text the message is, ``rule`` the rule of JSON Schema that a mapping has the code for."""

    code: str
    line: int
    message: str = ""
    suggestion: str = ""
    exception: str = ""
    rule: str = ""


def sites(source: bytes) -> tuple[Site, ...]:
    """The places of one file that raise an error; none if it is not Python."""
    module = _parsed(source) if ERROR.encode() in source else None
    return () if module is None else tuple(_sites(module))


def exceptions(source: bytes, names: Collection[str]) -> dict[str, str]:
    """What the exceptions of one file that are among ``names`` say of themselves: their message, or their docstring's
    first paragraph."""
    wanted = any(f"class {name}(".encode() in source for name in names)
    module = _parsed(source) if wanted else None
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)] if module else []
    return {node.name: _said(node) for node in classes if node.name in names}


def _parsed(source: bytes) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _sites(module: ast.Module) -> Iterator[Site]:
    for scopes, node in _walk(module):
        match node:
            case ast.Call():
                yield from _raised(node, _Names(scopes))
            case ast.Assign(targets=[target], value=ast.Dict() as mapping):
                yield from _mapped(_name(target), mapping, module)
            case ast.AnnAssign(target=target, value=ast.Dict() as mapping):
                yield from _mapped(_name(target), mapping, module)


def _walk(module: ast.Module) -> Iterator[tuple[tuple[ast.AST, ...], ast.AST]]:
    """Every node, with what it stands in that gives names a meaning, innermost first."""
    waiting: list[tuple[tuple[ast.AST, ...], ast.AST]] = [((), module)]
    while waiting:
        scopes, node = waiting.pop()
        yield scopes, node
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ExceptHandler):
            scopes = (node, *scopes)
        waiting += [(scopes, child) for child in ast.iter_child_nodes(node)]


def _raised(call: ast.Call, names: _Names) -> Iterator[Site]:
    arguments = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if _name(call.func) == ERROR:
        arguments = {**dict(zip(_POSITIONS, call.args, strict=False)), **arguments}
    code = names.text(arguments.get("code"))
    if CODE.fullmatch(code):
        message, suggestion = arguments.get("message"), arguments.get("suggestion")
        yield Site(code, call.lineno, names.text(message), names.text(suggestion), names.exception(message))


def _mapped(name: str, mapping: ast.Dict, module: ast.Module) -> Iterator[Site]:
    """The codes of a mapping from rules to codes that is called ``name``, and what those get that are not in it."""
    rules = [_constant(key) for key in mapping.keys]
    codes = [_constant(value) for value in mapping.values]
    if not codes or not all(rules) or not all(map(CODE.fullmatch, codes)):
        return
    for rule, code, value in zip(rules, codes, mapping.values, strict=True):
        yield Site(code, value.lineno, rule=rule)
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Attribute(value=looked_in, attr="get"), args=[_, ast.Constant(value=str(code))]):
                if _name(looked_in) == name and CODE.fullmatch(code):
                    yield Site(code, node.lineno)


def _said(exception: ast.ClassDef) -> str:
    """What ``__init__`` hands to ``Exception``, else what the docstring says."""
    for part in exception.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            for node in ast.walk(part):
                match node:
                    case ast.Call(func=ast.Attribute(attr="__init__"), args=[message, *_]):
                        return _Names((part,)).text(message)
    return " ".join((ast.get_docstring(exception) or "").partition("\n\n")[0].split())


class _Names:
    """What names mean inside ``scopes``, innermost first."""

    def __init__(self, scopes: Sequence[ast.AST]) -> None:
        self._scopes = scopes

    def text(self, node: ast.expr | None, depth: int = _DEPTH) -> str:
        """The template that ``node`` stands for, on one line; empty where that cannot be told."""
        return " ".join(self._text(node, depth).split())

    def _text(self, node: ast.expr | None, depth: int) -> str:
        parts: Iterable[str] = ()
        match node:
            case ast.Constant(value=str(text)):
                parts = (text,)
            case ast.JoinedStr(values=values):
                parts = (self._text(value, depth) for value in values)
            case ast.FormattedValue(value=value):
                parts = ("{", _placeholder(value), "}")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = (self._text(left, depth), self._text(right, depth))
            case ast.IfExp(body=body, orelse=other):
                return " / ".join(filter(None, (self._text(body, depth), self._text(other, depth))))
            case ast.Name(id=name) if depth:
                return next(filter(None, (self._text(value, depth - 1) for value in self._assigned(name))), "")
        return "".join(parts)

    def _assigned(self, name: str) -> Iterator[ast.expr]:
        for scope in self._scopes:
            nodes = ast.iter_child_nodes(scope) if isinstance(scope, ast.Module) else ast.walk(scope)
            for node in nodes:
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    if any(_name(target) == name for target in targets):
                        yield node.value

    def exception(self, node: ast.expr | None) -> str:
        """The class of the exception ``error`` where ``node`` is ``str(error)``."""
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
                return next(filter(None, (_class_of(name, scope) for scope in self._scopes)), "")
        return ""


def _class_of(name: str, scope: ast.AST) -> str:
    if isinstance(scope, ast.ExceptHandler) and scope.name == name and scope.type is not None:
        caught = scope.type.elts[0] if isinstance(scope.type, ast.Tuple) else scope.type
        return _name(caught)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
        return next((_name(one.annotation) for one in arguments if one.arg == name and one.annotation), "")
    return ""


def _placeholder(node: ast.expr) -> str:
    """What stands for a value in a template: its name, if that says something."""
    written = ast.unparse(node)
    return written if re.fullmatch(r"[\w.]{1,60}", written) else "…"


def _name(node: ast.expr | None) -> str:
    """The last part of a name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=str(text)):  # an annotation in quotation marks
            return text.rpartition(".")[2]
    return ""


def _constant(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
