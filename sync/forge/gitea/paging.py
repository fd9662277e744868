"""How a list goes on that an answer holds one page of, as the answer's headers tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*]+\s*=\s*(?:"[^"]*"|[^\s";,]*))*)')
_REL = re.compile(r';\s*rel\s*=\s*"?([^";]*)', re.IGNORECASE)
_DIGITS = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Paging:
    """``links`` are the addresses of other pages by relation (RFC 8288, section 3), empty where the forge gives none
    or a proxy has taken the header away. ``total`` counts the entries of all pages, where told; it is a hint."""

    links: Mapping[str, str]
    total: int | None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Paging:
        return cls(_links(headers.get("link", "")), _number(headers.get("x-total-count", "")))

    @property
    def last(self) -> int | None:
        """The number of the last page, where told."""
        try:
            return _number(parse_qs(urlsplit(self.links.get("last", "")).query).get("page", [""])[0])
        except ValueError:
            return None

    def goes_on(self, seen: int) -> bool:
        """Whether another page may follow, after ``seen`` entries. (After a page without any there is none.)"""
        if self.links:
            return "next" in self.links
        return self.total is None or seen < self.total


def _links(header: str) -> dict[str, str]:
    links = {}
    for target, parameters in _LINK.findall(header):
        relation = _REL.search(parameters)
        for word in relation[1].lower().split() if relation else ():
            links[word] = target
    return links


def _number(digits: str) -> int | None:
    return int(digits) if _DIGITS.fullmatch(digits) else None
