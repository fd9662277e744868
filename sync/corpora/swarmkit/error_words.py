"""What an error code means and what mends it, in our words, by the parts of the code: for what no source explains.

A code is ``<artifact>.<reason>``: ``agent.unknown-skill``. Those of ``schema`` are a broken rule of JSON Schema.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Words(NamedTuple):
    description: str
    fix: str


_SCHEMA: Final = {
    "required-field": Words("A field that the schema requires is missing.", "Add the field at yaml_pointer."),
    "type-mismatch": Words("A value has another type than the schema says.", "Write a value of the type in rule."),
    "pattern-mismatch": Words("A text does not have the form that the schema asks for.", "Match the pattern in rule."),
    "enum-mismatch": Words("A value is none of those that the schema allows.", "Take one of the values in rule."),
    "const-mismatch": Words("A value is not the only one that the schema allows.", "Write the value in rule."),
    "length": Words("A text is shorter or longer than the schema allows.", "Bring its length within the bounds."),
    "range": Words("A number is smaller or larger than the schema allows.", "Bring it within the bounds."),
    "array-size": Words("A list has fewer or more items than the schema allows.", "Add items, or remove some."),
    "object-size": Words("A mapping has fewer or more keys than the schema allows.", "Add keys, or remove some."),
    "unknown-field": Words("A field is there that the schema does not know.", "Remove it, or mend its name."),
    "variant-mismatch": Words(
        "A value fits none of the forms that the schema offers, or more than one.",
        "Choose one of the forms in get_schema of the artifact, and write that one in full.",
    ),
    "conditional": Words(
        "A value breaks a rule that applies because of what else is in the artifact.",
        "Look up allOf in get_schema of the artifact: it says what the other value demands.",
    ),
    "format": Words("A text is not in the format that the schema names, such as a date.", "Write it in that format."),
}

_REASONS: Final = {
    r"duplicate-id": Words("More than one {thing} has the same id.", "Give each {thing} an id of its own."),
    r"id-collision": Words(
        "What the {thing} would add has the id of something else.", "Rename one of the two, so that ids are unique."
    ),
    r"model-construction": Words(
        "The {thing} passes its JSON Schema, but not the typed model behind it.",
        "Compare the {thing} with get_schema, field by field.",
    ),
    r"(?:\w+-)?unknown(?:-(?P<what>[\w-]+))?": Words(
        "The {thing} refers to something that the workspace does not have ({what}).",
        "Define it, or mend the reference: ids are compared exactly.",
    ),
    r"(?P<what>[\w-]+)-cycle": Words("{what} of the {thing} leads back to where it began.", "Take one link out of it."),
    r"(?P<what>[\w-]+)-self": Words("The {thing} names itself in {what}.", "Take the name out."),
    r"bad-(?P<what>[\w-]+)": Words(
        "The {thing} has a {what} that cannot be used.", "Write the {what} as get_schema of the artifact shows it."
    ),
    r"(?P<what>[\w-]+)-invalid": Words("The {what} of the {thing} is not valid.", "Mend it as the message says."),
    r"not-found": Words("There is no {thing} at that path.", "Check the path: it names a folder with workspace.yaml."),
    r"missing-(?P<what>[\w-]+)": Words("The {thing} has no {what}.", "Add the {what}."),
    r"yaml-parse": Words("A file is not valid YAML.", "Mend the line: indentation, brackets, quotation marks."),
    r"malformed": Words("A file holds no mapping of keys to values.", "Begin it with apiVersion, kind and metadata."),
    r"kind-mismatch": Words(
        "A file's kind is not the one of its folder.", "Move the file, or change its kind to that of the folder."
    ),
    r"deep-nesting": Words("A file lies too deep in its folder.", "Move it up: one level of subfolders is read."),
    r"failed": Words(
        "The {thing} itself failed, so nothing is known of the workspace.",
        "Mend files that cannot be read; else report the message to those who maintain SwarmKit.",
    ),
}

FIX: Final = "Look at yaml_pointer in the file at artifact_path, mend what the message names, and validate again."


def words(code: str) -> Words:
    """The best that the code itself tells; never empty."""
    artifact, _, reason = code.partition(".")
    thing = artifact.replace("-", " ")
    if artifact == "schema":
        return _SCHEMA.get(reason, Words("A value breaks a rule of its JSON Schema.", FIX))
    for pattern, said in _REASONS.items():
        if match := re.fullmatch(pattern, reason):
            what = (match.groupdict().get("what") or reason).replace("-", " ")
            return Words(*(text.format(thing=thing, what=what) for text in said))
    return Words(f"Something is wrong with the {thing}: {reason.replace('-', ' ').replace('.', ' ')}.", FIX)
