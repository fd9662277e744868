"""Run a topology of a workspace in SwarmKit's own runtime, with a stub for the model; for an interpreter that has it.

``python swarmkit_run.py WORKSPACE TOPOLOGY QUERY`` writes what the run ends with. The stub calls the first skill that
it is offered with the query, and then says what came back.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path
from typing import Any


def results(messages: Any) -> list[str]:
    """What tools have returned so far."""
    blocks = (block for message in messages if not isinstance(message.content, str) for block in message.content)
    return [str(block.tool_result) for block in blocks if block.type == "tool_result"]


async def main(workspace: Path, topology: str, query: str) -> None:
    models = importlib.import_module("swarmkit_runtime.model_providers")

    async def complete(_: object, request: Any) -> Any:
        found = results(request.messages)
        usage = models.Usage(input_tokens=1, output_tokens=1)
        if found or not request.tools:
            said = models.ContentBlock(type="text", text="\n".join(found) or "no tools")
            return models.CompletionResponse(content=(said,), stop_reason="end_turn", usage=usage)
        call = models.ContentBlock(
            type="tool_use", tool_name=request.tools[0].name, tool_use_id="call-1", tool_input={"query": query}
        )
        return models.CompletionResponse(content=(call,), stop_reason="tool_use", usage=usage)

    models.MockModelProvider.complete = complete
    runtime = importlib.import_module("swarmkit_runtime._workspace_runtime")
    loaded = runtime.WorkspaceRuntime.from_workspace_path(workspace)
    ended = await loaded.run(topology, query)
    sys.stdout.write(ended.output)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
