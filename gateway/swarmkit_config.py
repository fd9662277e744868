"""What a SwarmKit workspace needs so that its agents can ask about SwarmKit: a server and a skill. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

SERVER: Final = "swarmkit-knowledge"

_TEXT: Final = """\
# In workspace.yaml:
mcp_servers:
  - id: {server}
    transport: stdio
    command: {command}
---
# As skills/query-swarmkit-docs.yaml:
apiVersion: swarmkit/v1
kind: Skill
metadata:
  id: query-swarmkit-docs
  name: Query SwarmKit docs
  description: >
    Finds sections of SwarmKit's own documents, schemas, skills and examples. Use it before guessing how SwarmKit does
    something; ask in a few plain words.
category: capability
inputs:
  type: object
  required: [query]
  additionalProperties: false
  properties:
    query:
      type: string
      description: What you want to know, in a few words.
    max_results:
      type: integer
      minimum: 1
      maximum: 50
outputs:
  type: object
  properties:
    results:
      type: array
      description: Sections with path, heading, snippet and score, best first.
implementation:
  type: mcp_tool
  server: {server}
  tool: search_docs
iam:
  required_scopes: ["knowledge:read"]
provenance:
  authored_by: human
  version: 1.0.0
"""


def workspace_entry(program: Sequence[str], repo: Path | None, python: str) -> str:
    """Two YAML documents: the entry of ``mcp_servers``, and the skill. ``program`` is the absolute command."""
    command = [*program, "knowledge-server"]
    if repo is not None:
        command += ["--repo", str(repo)]
    if python:
        command += ["--swarmkit-python", python]
    return _TEXT.format(server=SERVER, command=json.dumps(command, ensure_ascii=False))
