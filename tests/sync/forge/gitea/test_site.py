"""Where a forge is."""

import pytest

from cache.errors import NotConfigured
from sync.forge.gitea.site import Site


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
