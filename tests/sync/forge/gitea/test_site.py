"""Where a forge is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import NotConfigured
from sync.forge.gitea.site import Site, addresses


@pytest.mark.parametrize(
    ("url", "root", "host"),
    [
        ("https://git.example.test", "https://git.example.test", "git.example.test"),
        ("https://git.example.test/", "https://git.example.test", "git.example.test"),
        (" https://GIT.example.test:3000/ ", "https://git.example.test:3000", "git.example.test:3000"),
        ("https://git.example.test/gitea/", "https://git.example.test/gitea", "git.example.test"),
        ("https://git.example.test/gitea/api/v1", "https://git.example.test/gitea", "git.example.test"),
        ("http://[::1]:3000", "http://[::1]:3000", "[::1]:3000"),
    ],
)
def test_a_url_names_a_site(url: str, root: str, host: str) -> None:
    site = Site.of(url)
    assert (site.url, site.host) == (root, host)


@pytest.mark.parametrize(
    "url", ["", "git.example.test", "ssh://git@git.example.test", "https://", "https://a:b", "http://["]
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(NotConfigured, match="is no address"):
        Site.of(url)


@pytest.mark.parametrize(
    "url", ["https://me:fake@git.example.test", "https://git.example.test/?a", "https://x.test/#a"]
)
def test_what_does_not_belong_in_it_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        Site.of(url)
    assert "fake" not in caught.value.message


ROOT = "https://git.example.test"


@pytest.mark.parametrize(
    ("pasted", "expected"),
    [
        (ROOT, [ROOT]),
        (f" {ROOT}/ ", [ROOT]),
        ("git.example.test", [ROOT]),
        ("localhost:3000", ["http://localhost:3000"]),
        ("127.0.0.1:3000/git", ["http://127.0.0.1:3000/git", "http://127.0.0.1:3000"]),
        (f"{ROOT}/gitea/api/v1", [f"{ROOT}/gitea", ROOT]),
        (f"{ROOT}/api/v1/version", [ROOT]),
        (f"{ROOT}/api/swagger#/user", [ROOT]),
        (f"{ROOT}/user/settings", [f"{ROOT}/user/settings", f"{ROOT}/user", ROOT]),
        (f"{ROOT}/acme/web.git", [f"{ROOT}/acme/web.git", f"{ROOT}/acme", ROOT]),
        (f"{ROOT}/acme/web/issues?q=fake", [f"{ROOT}/acme/web/issues", f"{ROOT}/acme/web", f"{ROOT}/acme", ROOT]),
        ("https://me:fake-password@git.example.test/x", [f"{ROOT}/x", ROOT]),
        ("git@git.example.test:acme/web.git", [ROOT]),
        ("ssh://git@git.example.test:2222/acme/web.git", [ROOT]),
        ("ssh://git.example.test/acme/web.git", [ROOT]),
        ("", []),
        ("my own forge", []),
        ("ftp://git.example.test", []),
        ("https://", []),
    ],
)
def test_what_somebody_pastes_names_the_roots_to_try(pasted: str, expected: list[str]) -> None:
    assert list(addresses(pasted)) == expected


def test_a_long_path_is_not_tried_for_ever() -> None:
    assert len(addresses(ROOT + "/a" * 1000)) == 13


@given(st.text() | st.text(alphabet="git@:/.[]?#ssh", max_size=30))
def test_every_address_to_try_names_a_site(pasted: str) -> None:
    for address in addresses(pasted):
        assert Site.of(address).url == address
