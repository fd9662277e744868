"""What goes back: an answer, the forge's ways to say no, and its pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

if TYPE_CHECKING:
    from tests.fake_gitea.call import Call

T = TypeVar("T")
Json = dict[str, object]
JSON_TYPE = "application/json;charset=utf-8"
NOT_CACHED = "max-age=0, private, must-revalidate, no-transform"
CHUNKED_FROM = 2048  # bytes of JSON from which the forge leaves out the length


@dataclass(frozen=True)
class Answer:
    """Status, headers (by lower-case name) and the whole body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> object:
        return json.loads(self.body)

    def with_json(self, value: object) -> Answer:
        """The same answer about another value."""
        return json_answer(value, self.status, self.headers)


class Refused(Exception):
    """A handler's early end: ``answer`` says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer in JSON; a short one tells its length, a long one is sent in chunks without."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    merged = {"cache-control": NOT_CACHED, **(headers or {}), "content-type": JSON_TYPE}
    merged.pop("content-length", None)
    if len(body) <= CHUNKED_FROM:
        merged["content-length"] = str(len(body))
    return Answer(status, merged, body)


def text_answer(text: str, status: int, headers: Mapping[str, str] | None = None) -> Answer:
    body = text.encode()
    own = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    return Answer(status, {"cache-control": NOT_CACHED, **own, **(headers or {})}, body)


def no_such_route() -> Answer:
    """What answers for a path that is no endpoint: plain text, not JSON."""
    return text_answer("404 page not found\n", 404)


def refused(call: Call, status: int, message: str) -> Refused:
    """The forge's error: a message for people and where the API is described."""
    return Refused(json_answer({"message": message, "url": call.forge.root_url + "api/swagger"}, status))


def not_found(call: Call, message: str | None = None, errors: Sequence[str] | None = None) -> Refused:
    """A JSON 404: the route exists, what it names does not (or is not for the caller to see)."""
    dialect = call.forge.dialect
    body: Json = {
        "message": message or dialect.not_found,
        "url": call.forge.root_url + "api/swagger",
        "errors": errors if errors is not None else dialect.no_errors,
    }
    return Refused(json_answer(body, 404))


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is asked for: ``number`` from 1, ``size`` as the forge caps it."""

    number: int
    size: int

    def cut(self, items: Sequence[T]) -> Sequence[T]:
        start = (self.number - 1) * self.size
        return items[start : start + self.size]


def page_of(call: Call) -> Page:
    """The page that ``page`` and ``limit`` ask for: a missing limit is 30, one over 50 silently 50."""
    limits = call.forge.limits
    limit = call.number("limit")
    size = min(limit, limits.max_response_items) if limit > 0 else limits.default_paging_num
    return Page(max(call.number("page"), 1), size)


def page_headers(call: Call, total: int, page: Page | None = None) -> dict[str, str]:
    """``X-Total-Count``, and with a ``page`` a ``Link`` where there is more than one."""
    headers = {"x-total-count": str(total)}
    if page is not None and (links := _links(call, total, page)):
        headers["link"] = ",".join(links)
    return headers


def _links(call: Call, total: int, page: Page) -> list[str]:
    pages = max(-(-total // page.size), 1)
    current = min(page.number, pages)
    targets = [("next", current + 1, current < pages), ("last", pages, current != pages)]
    targets += [("first", 1, current != 1), ("prev", current - 1, current > 1)]
    return [f'<{_page_url(call, number)}>; rel="{rel}"' for rel, number, there in targets if there]


def _page_url(call: Call, number: int) -> str:
    query = {**dict(call.exchange.query), "page": str(number)}
    return f"{call.forge.api_url}{call.exchange.path}?{urlencode(sorted(query.items()))}"


def paged(
    call: Call, items: Sequence[T], show: Callable[[T], object], *, links: bool = True, hidden: int = 0
) -> Answer:
    """The asked page of ``items``; the forge counts ``hidden`` ones too, which it then does not show."""
    page = page_of(call)
    headers = page_headers(call, len(items) + hidden, page if links else None)
    return json_answer([show(item) for item in page.cut(items)], 200, headers)
