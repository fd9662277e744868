"""Which proxy the environment names for a URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.proxy import proxy_for

FORGE = "https://git.example.test/api"
PROXY = {"HTTPS_PROXY": "http://proxy.test:3128"}


def test_without_variables_there_is_no_proxy() -> None:
    assert proxy_for(FORGE, {}) is None


def test_the_variable_of_the_scheme_counts() -> None:
    assert proxy_for(FORGE, PROXY) == "http://proxy.test:3128"
    assert proxy_for("http://git.example.test/", PROXY) is None


def test_small_letters_come_first() -> None:
    assert proxy_for(FORGE, PROXY | {"https_proxy": "http://other.test"}) == "http://other.test"


def test_an_empty_variable_is_none() -> None:
    assert proxy_for(FORGE, {"HTTPS_PROXY": " "}) is None


def test_all_proxy_is_for_every_scheme() -> None:
    assert proxy_for("http://git.example.test/", {"ALL_PROXY": "http://proxy.test"}) == "http://proxy.test"


def test_a_proxy_without_a_scheme_speaks_http() -> None:
    assert proxy_for(FORGE, {"HTTPS_PROXY": "proxy.test:3128"}) == "http://proxy.test:3128"


def test_a_cgi_program_does_not_trust_http_proxy() -> None:
    environ = {"HTTP_PROXY": "http://evil.test", "REQUEST_METHOD": "GET"}
    assert proxy_for("http://git.example.test/", environ) is None


@pytest.mark.parametrize(
    "no_proxy",
    [
        "*",
        "git.example.test",
        "GIT.example.test",
        "example.test",
        ".example.test",
        "*.example.test",
        "other.test, example.test",
        "example.test:443",
    ],
)
def test_no_proxy_exempts_a_name_and_what_is_below_it(no_proxy: str) -> None:
    assert proxy_for(FORGE, PROXY | {"NO_PROXY": no_proxy}) is None


@pytest.mark.parametrize(
    "no_proxy", ["", ",", "ample.test", "git.example", "example.test:8443", "[", "a:b", "10.0.0.0/8"]
)
def test_no_proxy_exempts_nothing_else(no_proxy: str) -> None:
    assert proxy_for(FORGE, PROXY | {"NO_PROXY": no_proxy}) is not None


@pytest.mark.parametrize("no_proxy", ["10.1.2.3", "10.0.0.0/8", "10.1.2.3:8443"])
def test_no_proxy_exempts_addresses_and_networks(no_proxy: str) -> None:
    assert proxy_for("https://10.1.2.3:8443/", PROXY | {"NO_PROXY": no_proxy}) is None


@pytest.mark.parametrize("no_proxy", ["::1", "[::1]", "::/64"])
def test_no_proxy_exempts_addresses_of_version_6(no_proxy: str) -> None:
    assert proxy_for("https://[::1]:8443/", PROXY | {"NO_PROXY": no_proxy}) is None


@given(st.text())
def test_any_no_proxy_can_be_read(no_proxy: str) -> None:
    assert proxy_for(FORGE, PROXY | {"NO_PROXY": no_proxy}) in (None, "http://proxy.test:3128")
