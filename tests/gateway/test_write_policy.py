"""What may be written where, by the configuration."""

from __future__ import annotations

import pytest

from cache.errors import Denied
from gateway.settings import Filing, GatewaySection, Settings, TasksSection, WriteSection
from gateway.write_policy import WritePolicy


def allows(project: str, *globs: str) -> bool:
    try:
        WritePolicy(allow=globs).refuse(project)
    except Denied:
        return False
    return True


class TestAllowed:
    @pytest.mark.parametrize("project", ["acme/web", "work:acme/web", "local/src/web"])
    def test_everything_is_by_default(self, project: str) -> None:
        WritePolicy().refuse(project)

    @pytest.mark.parametrize(
        ("project", "glob"),
        [
            ("acme/web", "acme/*"),
            ("acme/web", "ACME/Web"),
            ("Acme/Web", "acme/web"),
            ("acme/web", "*/web"),
            ("work:acme/web", "acme/*"),
            ("work:acme/web", "work:acme/*"),
            ("work:acme/web", "Work:*"),
            ("local/a:b/web", "local/a:b/*"),
        ],
    )
    def test_what_a_pattern_fits_is(self, project: str, glob: str) -> None:
        assert allows(project, "other/*", glob)

    @pytest.mark.parametrize(
        ("project", "globs"),
        [
            ("acme/web", ()),
            ("acme/web", ("",)),
            ("acme/web", ("acme",)),
            ("acme/web", ("web",)),
            ("acme2/web", ("acme/*",)),
            ("evil/acme/web", ("acme/*",)),
            ("home:acme/web", ("work:acme/*",)),
            ("local/a:acme/web", ("acme/*",)),
        ],
    )
    def test_nothing_else_is(self, project: str, globs: tuple[str, ...]) -> None:
        assert not allows(project, *globs)

    def test_a_refusal_names_the_setting(self) -> None:
        with pytest.raises(Denied) as refusal:
            WritePolicy(allow=("acme/*",)).refuse("other/web")
        assert refusal.value.line == "denied: other/web is not to be written to — add it to [write] allow"

    def test_a_read_only_gateway_writes_nothing(self) -> None:
        with pytest.raises(Denied, match=r"read-only — start it without --read-only, and unset \[gateway\] read_only"):
            WritePolicy(read_only=True).refuse("acme/web")


class TestFiling:
    @pytest.mark.parametrize(
        ("project", "filing"),
        [
            ("acme/web", "issue"),
            ("ACME/Web", "issue"),
            ("work:acme/web", "issue"),
            ("home:acme/api", "file"),
            ("work:acme/api", "auto"),
            ("other/docs", "file"),
            ("acme/docs", "issue"),
            ("other/more-docs", "auto"),
        ],
    )
    def test_each_project_may_have_its_own(self, project: str, filing: Filing) -> None:
        filings: dict[str, Filing] = {
            "acme/web": "issue",
            "home:acme/api": "file",
            "docs": "file",
            "acme/docs": "issue",
        }
        assert WritePolicy(filings=filings).filing_of(project) == filing

    def test_the_others_have_the_one_of_all(self) -> None:
        assert WritePolicy(filing="file", filings={"acme/web": "issue"}).filing_of("acme/api") == "file"


def test_it_is_what_the_settings_say() -> None:
    settings = Settings(
        gateway=GatewaySection(read_only=True),
        write=WriteSection(allow=("acme/*",), allow_secrets=True),
        tasks=TasksSection(filing="file", projects={"acme/web": "issue"}),
    )
    assert WritePolicy.of(settings) == WritePolicy(("acme/*",), True, True, "file", {"acme/web": "issue"})
    assert WritePolicy.of(Settings()) == WritePolicy()
