"""How a list goes on."""

import pytest

from sync.forge.gitea.paging import Paging
from tests.fake_gitea.recordings import load


def paging(link: str = "", total: str = "") -> Paging:
    headers = {"link": link, "x-total-count": total}
    return Paging.of({name: value for name, value in headers.items() if value})


def test_a_recorded_page_tells_how_many_follow() -> None:
    page = Paging.of(load("user-repos-limit-100-is-capped").headers)
    assert (page.total, page.last, page.goes_on(50)) == (134, 3, True)


def test_the_last_recorded_page_does_not_go_on_whatever_the_total() -> None:
    assert not Paging.of(load("user-repos-page-3").headers).goes_on(1)


@pytest.mark.parametrize(("seen", "more"), [(50, True), (51, False), (60, False)])
def test_a_list_without_links_goes_on_until_its_total(seen: int, more: bool) -> None:
    assert paging(total="51").goes_on(seen) is more


@pytest.mark.parametrize("total", ["", "many", "-1", "1" * 30])
def test_a_list_that_tells_nothing_may_always_go_on(total: str) -> None:
    assert paging(total=total).goes_on(1000)


def test_relations_are_read_in_any_order_and_case() -> None:
    page = paging('<https://a.test/?page=9>; title="x, y"; REL="last NEXT", <https://a.test/?page=1>; rel=first')
    assert (sorted(page.links), page.last) == (["first", "last", "next"], 9)


@pytest.mark.parametrize("link", ["<https://[/>; rel=last", "<https://a.test/?page=x>; rel=last", "<>; rel=last"])
def test_an_address_that_is_none_has_no_number(link: str) -> None:
    assert paging(link).last is None
