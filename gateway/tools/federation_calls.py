"""What the tools of toolset ``federation`` do: from validated arguments to an answer in the contract's shape.

Apart from their declarations, since nothing here is needed before the first call.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from gateway.answers import AskAnswer, PageAnswer, SearchAnswer, content
from gateway.federation import Federation
from gateway.filing import TaskRequest
from gateway.ingest import IngestRequest
from gateway.reading import PageRequest
from gateway.tools import federation_schemas as schemas
from gateway.tools.federation_schemas import NOTICE
from gateway.tools.registry import Listing, Result, Structured, Texts


class Hints:
    """What to do next, in the names that are listed, and in those only."""

    def __init__(self, listing: Listing) -> None:
        self._spell = listing.spell
        create = self._spell("tasks.create")
        self._unwritten = "" if listing.read_only else f"; {create}(target_project, body) if nobody has written it down"

    def after_search(self, answer: SearchAnswer) -> str:
        if answer.matches:
            return f"{self._spell('knowledge.get')}(slug) for the full text"
        ask = self._spell("knowledge.ask_projects")
        if answer.suggested_projects:
            return f"{ask}(query, projects) with the suggested projects"
        names = f"{self._spell('projects.list')}() shows their names"
        return f"{ask}(query, projects) with projects that may know; {names}{self._unwritten}"

    def after_ask(self, answer: AskAnswer) -> str:
        if answer.found:
            return f"{self._spell('knowledge.get_from')}(project, slug) for the full text"
        names = f"{self._spell('projects.list')}() shows their names"
        return f"no page matches: try other words, or other projects ({names}){self._unwritten}"


async def search(federation: Federation, listing: Listing, arguments: Mapping[str, Any]) -> Result:
    answer = await federation.search(
        arguments["query"], types=arguments.get("types"), limit=arguments.get("limit", schemas.SEARCH_LIMIT)
    )
    return Structured({**content(answer), "next_action_hint": Hints(listing).after_search(answer), "notice": NOTICE})


async def ask(federation: Federation, listing: Listing, arguments: Mapping[str, Any]) -> Result:
    answer = await federation.ask_projects(
        arguments["query"],
        arguments["projects"],
        limit=arguments.get("limit", schemas.ASK_LIMIT),
        types=arguments.get("types"),
    )
    return Structured({**content(answer), "next_action_hint": Hints(listing).after_ask(answer), "notice": NOTICE})


async def get(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    return _page(await federation.get(_request(arguments)))


async def get_from(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    return _page(await federation.get_from(arguments["project"], _request(arguments)))


def _request(arguments: Mapping[str, Any]) -> PageRequest:
    return PageRequest(
        arguments["slug"],
        arguments.get("section"),
        arguments.get("offset", 0),
        arguments.get("max_chars", schemas.MAX_CHARS),
    )


def _page(answer: PageAnswer) -> Texts:
    about = content(answer)
    text = about.pop("text")
    return Texts((text, _one_line({**about, "next_offset": answer.next_offset, "notice": NOTICE})))


async def list_pages(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    answer = await federation.list_pages(
        arguments.get("project"),
        types=arguments.get("types"),
        limit=arguments.get("limit", schemas.LIST_LIMIT),
        cursor=arguments.get("cursor"),
    )
    return Structured(content(answer))


async def projects(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    answer = await federation.projects(
        arguments.get("query"), limit=arguments.get("limit", schemas.LIST_LIMIT), cursor=arguments.get("cursor")
    )
    return Structured(content(answer))


async def status(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    about = content(await federation.status(arguments["project"]))
    return Texts((about.pop("text"), _one_line({**about, "notice": NOTICE})))


async def refresh(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    return Structured(content(await federation.refresh(arguments["project"])))


async def ingest(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    request = IngestRequest(
        arguments["slug"],
        arguments["title"],
        arguments["body"],
        arguments.get("type"),
        arguments.get("description", ""),
        arguments.get("expected_revision"),
        arguments.get("dry_run", False),
    )
    answer = await federation.ingest(arguments.get("target_project"), request)
    notice = {} if answer.diff is None else {"notice": NOTICE}  # it shows lines of others
    return Structured({**content(answer), **notice})


async def create_task(federation: Federation, _: Listing, arguments: Mapping[str, Any]) -> Result:
    request = TaskRequest(
        arguments["body"],
        arguments.get("title"),
        tuple(arguments.get("labels", ())),
        arguments.get("dry_run", False),
    )
    return Structured(content(await federation.file_task(arguments["target_project"], request)))


def _one_line(about: Mapping[str, object]) -> str:
    return json.dumps(about, ensure_ascii=False, separators=(",", ":"))


Call = Callable[[Federation, Listing, Mapping[str, Any]], Awaitable[Result]]

CALLS: Final[Mapping[str, Call]] = {
    "knowledge.search": search,
    "knowledge.get": get,
    "knowledge.list": list_pages,
    "knowledge.ask_projects": ask,
    "knowledge.get_from": get_from,
    "projects.list": projects,
    "projects.status": status,
    "projects.refresh": refresh,
    "knowledge.ingest": ingest,
    "tasks.create": create_task,
}
