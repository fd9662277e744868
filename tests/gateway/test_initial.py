"""The file that ``gateway init`` writes, and whose wiki it offers as the shared one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cache.model import Listed, ProjectKey, RepoRef
from gateway import config
from gateway.initial import Local, Server, likely_shared, text

ODD = "fake-\\hunter2"
COMMAND = "pass 'show' \"x\""
FILE = "~/token"


def listed(name: str, *, archived: bool = False, fork: bool = False, empty: bool = False) -> Listed:
    return Listed(RepoRef(ProjectKey("default", 1), name, "main"), "", 0.0, None, archived, fork, empty)


class TestText:
    def test_it_has_what_was_named_and_no_more(self) -> None:
        written = text(Server("https://git.example.test", token_file=FILE), "acme/wiki")
        assert tomllib.loads(written) == {
            "forge": {"kind": "gitea", "url": "https://git.example.test", "token_file": FILE},
            "wiki": {"shared": "acme/wiki"},
        }

    @pytest.mark.parametrize(
        "forge",
        [
            Server("https://git.example.test", 'al"ice', token=ODD, ca_file="/ca \u00fc.pem"),
            Server("https://git.example.test", token_command=COMMAND),
            Local(["~/src", '/a "b"']),
        ],
    )
    def test_whatever_is_named_is_read_back(self, forge: Server | Local) -> None:
        loaded = config.preview(text(forge, ""), Path("/etc/auth.toml"), {}, Path("/home"))
        read = loaded.settings.fleet["default"].model_dump()
        known = forge if isinstance(forge, Server) else None
        if known is None:
            assert read["roots"] == (Path("/home/src"), Path('/a "b"'))
        else:
            assert (read["user"], read["ca_file"]) == (known.user, known.ca_file)
            assert read["token"].get_secret_value() == known.token
            assert read["token_command"].get_secret_value() == known.token_command

    def test_its_parts_show_no_secret(self) -> None:
        server = Server("https://git.example.test", token=ODD, token_command=ODD)
        assert "hunter2" not in repr(server)


class TestLikelyShared:
    def test_the_name_tells_and_the_shortest_leads(self) -> None:
        projects = map(
            listed, ["acme/docs", "wiki/code", "acme/projects-wiki", "acme/Wiki", "acme/web", "acme/handbook"]
        )
        assert [each.repo.name for each in likely_shared(projects)] == [
            "acme/Wiki",
            "acme/projects-wiki",
            "acme/handbook",
            "acme/docs",
        ]

    def test_what_nobody_writes_to_is_not_offered(self) -> None:
        dead = [listed("a/wiki", archived=True), listed("b/wiki", fork=True), listed("c/wiki", empty=True)]
        assert likely_shared(dead) == []

    def test_a_few_are_enough(self) -> None:
        assert len(likely_shared(listed(f"acme/wiki-{number}") for number in range(100))) == 5
