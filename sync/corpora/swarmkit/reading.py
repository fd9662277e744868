"""One file of a checkout: what it says of itself, and the sections that it is found by. Pure; nothing here raises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import yaml

from cache.search.sections import Section
from sync import front_matter
from sync.corpora.markdown_sections import parts
from sync.corpora.swarmkit import front_matter as notes
from sync.corpora.swarmkit.layout import Kind, schema_name, slug_of

MAX_TITLE: Final = 300  # code points

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DOTTED = re.compile(r"(?<![\w.-])[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+(?![\w-])")
_YAML_NAME = re.compile(r"^ {1,8}(?:name|id):[ \t]*[\"']?([^\"'\n#]{1,200}?)[\"']?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Note:
    """What ``list_design_notes`` tells of a note."""

    slug: str
    title: str
    description: str
    tags: tuple[str, ...]
    status: str
    path: str


@dataclass(frozen=True, slots=True)
class Skill:
    """What ``list_reference_skills`` tells of a skill; ``error`` says why there is nothing to tell."""

    id: str
    name: str
    description: str
    category: str
    server: str
    tool: str
    path: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it is found, and what else is told of it. ``dotted`` are the words with dots in it, such as error codes
    are."""

    sections: tuple[Section, ...]
    dotted: frozenset[str]
    note: Note | None = None
    skill: Skill | None = None


def read(path: str, kind: Kind, data: bytes) -> Content:
    """What ``data``, the content of the file at ``path``, says."""
    text = data.decode("utf-8", "replace")
    dotted = frozenset(_DOTTED.findall(text))
    match kind:
        case Kind.NOTE | Kind.MARKDOWN:
            note, body = _note(path, text)
            return Content(tuple(_markdown(note, text, body)), dotted, note=note if kind is Kind.NOTE else None)
        case Kind.SCHEMA:
            return Content(tuple(_schema(path, text)), dotted)
        case Kind.SKILL:
            skill = _skill(path, data)
            return Content((Section(path, skill.name or skill.id, skill.id, text, first=True),), dotted, skill=skill)
        case Kind.YAML:
            named = _YAML_NAME.search(text)
            title = named[1] if named else PurePosixPath(path).stem
            return Content((Section(path, title, "", text, first=True),), dotted)


def _note(path: str, text: str) -> tuple[Note, int]:
    written, body = notes.split(text)
    found = notes.fields(written)
    said = notes.said_in_body(text[body:])
    first = next((part.heading for part in parts(text, body) if part.level == 1), "")
    return Note(
        slug_of(path),
        (notes.text_of(found, "title") or first or PurePosixPath(path).stem)[:MAX_TITLE],
        notes.text_of(found, "description"),
        front_matter.tags(written) or front_matter.tags(f"tags: {said.get('tags', '')}"),
        notes.text_of(found, "status") or said.get("status", ""),
        path,
    ), body


def _markdown(note: Note, text: str, body: int) -> Iterator[Section]:
    first = True
    for part in parts(text, body):
        if part.heading or part.text.strip():
            yield Section(note.path, note.title, part.heading, part.text, note.tags, first)
            first = False
    if first:
        yield Section(note.path, note.title, "", "", note.tags, first)


def _schema(path: str, text: str) -> Iterator[Section]:
    """By top-level key; each property and each definition counts as one, since theirs is what is asked for."""
    name = schema_name(path)
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        loaded = None
    schema: Mapping[str, Any] = loaded if isinstance(loaded, dict) else {}
    title = schema["title"] if isinstance(schema.get("title"), str) else f"{name} schema"
    about = {key: value for key, value in schema.items() if not isinstance(value, dict | list)}
    yield Section(path, title, name, _shown(about) if schema else text, first=True)
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            for inner, part in value.items():
                yield Section(path, title, f"{key}.{inner}", _shown(part))
        elif isinstance(value, dict | list):
            yield Section(path, title, key, _shown(value))


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _skill(path: str, data: bytes) -> Skill:
    stem = PurePosixPath(path).stem
    try:
        loaded = yaml.load(data.decode("utf-8-sig"), Loader=_LOADER)  # noqa: S506 see _LOADER
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return _bad_skill(path, "not valid YAML" + ("" if mark is None else f" (line {mark.line + 1})"))
    except UnicodeDecodeError:
        return _bad_skill(path, "not UTF-8 text")
    except (ValueError, RecursionError):
        return _bad_skill(path, "not valid YAML")
    if not isinstance(loaded, dict):
        return _bad_skill(path, "no mapping of keys to values")
    metadata, implementation = _mapping(loaded, "metadata"), _mapping(loaded, "implementation")
    return Skill(
        _line(metadata, "id") or stem,
        _line(metadata, "name"),
        _line(metadata, "description"),
        _line(loaded, "category"),
        _line(implementation, "server"),
        _line(implementation, "tool"),
        path,
    )


def _bad_skill(path: str, why: str) -> Skill:
    return Skill(PurePosixPath(path).stem, "", "", "", "", "", path, why)


def _mapping(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def _line(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
