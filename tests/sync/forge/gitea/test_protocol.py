"""What recorded answers mean, and what malformed ones do."""

import base64
from collections.abc import Callable
from functools import partial

import pytest

from cache.errors import Denied, KnowledgeError, NotFound
from cache.model import Listed, ProjectKey, RepoRef
from sync.exchange import Response, Trouble, Unreachable
from sync.forge.base import Absent, File, Refused, TooBig
from sync.forge.gitea import protocol
from sync.forge.gitea.protocol import Entry, NotModified, Unread
from sync.forge.gitea.site import Site
from tests.fake_gitea.recordings import load
from tests.support.replies import BIG_FILE, replayed, reply

SITE = Site.of("https://git.example.test")
LIMIT = 1024 * 1024
SHA = "483b4d3534adc1bfa38ef8b1308bf3cd9aeb0084"

repo_page = partial(protocol.repo_page, site=SITE, forge="main")
repo = partial(protocol.repo, site=SITE, forge="main")
tree_page = partial(protocol.tree_page, site=SITE)


def names(page: protocol.RepoPage) -> list[str]:
    return [listed.repo.name for listed in page.repos]


class TestRepoPage:
    def test_a_page_of_many_tells_how_it_goes_on(self) -> None:
        page = repo_page(replayed("user-repos-limit-100-is-capped"))
        assert (len(page.repos), page.more, page.last, page.total) == (50, True, 3, 134)

    def test_a_page_between_goes_on(self) -> None:
        assert repo_page(replayed("user-repos-page-2")).more

    def test_the_last_page_has_no_next(self) -> None:
        page = repo_page(replayed("user-repos-page-3"))
        assert (len(page.repos), page.more) == (34, False)

    def test_an_empty_page_is_the_end(self) -> None:
        page = repo_page(replayed("user-repos-page-4"))
        assert (page.repos, page.more) == ((), False)

    def test_a_short_listing_is_whole(self) -> None:
        page = repo_page(replayed("org-repos"))
        assert (len(page.repos), page.more) == (4, False)

    def test_repositories_of_other_owners_are_listed_too(self) -> None:
        assert "alice/proj-000" in names(repo_page(replayed("user-repos-collaborator")))

    def test_forks_archived_and_empty_ones_are_told(self) -> None:
        listed = [
            repo
            for name in ("user-repos-limit-100-is-capped", "user-repos-page-2", "user-repos-page-3")
            for repo in repo_page(replayed(name)).repos
        ]
        assert any(repo.fork for repo in listed)
        assert any(repo.archived for repo in listed)
        assert any(repo.empty for repo in listed)

    def test_null_entries_are_passed_over(self) -> None:
        one = load("repo").json
        assert names(repo_page(reply([None, one, None]))) == ["acme/node-utils"]

    def test_a_page_of_null_alone_is_not_the_end(self) -> None:
        assert repo_page(reply([None], headers={"link": '<https://x.test/?page=2>; rel="next"'})).more

    def test_null_for_a_list_is_an_empty_one(self) -> None:
        assert repo_page(reply(None)).repos == ()

    def test_a_full_page_without_links_goes_on(self) -> None:
        """A proxy may drop the header; to take that for the end would forget the rest of the fleet."""
        assert repo_page(reply([None] * 50)).more
        assert repo_page(reply([None] * 20, headers={"x-total-count": "134"})).more
        assert repo_page(reply([None] * 50, headers={"x-total-count": "50"})).more
        assert not repo_page(reply([None] * 20, headers={"x-total-count": "20"})).more

    def test_a_short_page_without_any_header_goes_on(self) -> None:
        """The server's pages may be smaller than what was asked for: only an empty one is known to be the end."""
        assert repo_page(reply([None] * 20)).more
        assert not repo_page(reply([])).more

    @pytest.mark.parametrize(
        "link", ["", "<", "next", '<a>; rel="last"', "<>; rel=", '<http://[>; rel="last"', "<a>;;;"]
    )
    def test_an_odd_link_header_is_no_error(self, link: str) -> None:
        page = repo_page(reply([], headers={"link": link}))
        assert (page.more, page.last) == (False, None)

    @pytest.mark.parametrize(
        "link", ["<u?page=2>; rel=next", '<u?page=2>; title="a, b"; REL="prev next"', "<a>; rel=x, <u> ; rel=next"]
    )
    def test_link_headers_are_read_as_the_standard_has_them(self, link: str) -> None:
        assert repo_page(reply([None], headers={"link": link})).more


class TestRepo:
    def test_a_repository_is_what_the_listing_shows(self) -> None:
        assert repo(replayed("repo")) == Listed(
            RepoRef(ProjectKey("main", 132), "acme/node-utils", "main"),
            "2026-11-30T14:10:30Z main https://git.example.test/",
            1_796_047_830.0,
            "https://git.example.test/acme/node-utils",
        )

    def test_another_case_finds_the_name_as_the_forge_spells_it(self) -> None:
        assert repo(replayed("repo-other-case")).repo.name == "acme/node-utils"

    def test_dots_in_a_name_are_nothing_special(self) -> None:
        assert repo(replayed("repo-dotted-name")).repo.name == "acme/Web.App_2"

    @pytest.mark.parametrize("name", ["repo-missing", "repo-private-not-visible"])
    def test_missing_and_invisible_are_the_same(self, name: str) -> None:
        with pytest.raises(NotFound, match=r"^not found or not visible to this token$"):
            repo(replayed(name))

    @pytest.mark.parametrize("stamp", ["yesterday", "2026-11-30", "0000-00-00T00:00:00Z", "2026-11-30T14:10:30"])
    def test_a_stamp_that_is_no_time_is_still_a_stamp(self, stamp: str) -> None:
        listed = repo(reply(load("repo").json | {"updated_at": stamp}))
        assert listed.stamp.startswith(stamp)
        assert listed.updated_at is None

    @pytest.mark.parametrize(
        "change",
        [
            {"updated_at": "2026-11-30T14:10:31Z"},
            {"default_branch": "next"},
            {"html_url": "https://new.example.test/acme/node-utils"},
            {"archived": True},
            {"fork": True},
            {"empty": True},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_whatever_is_kept_of_it_is_in_its_stamp(self, change: dict[str, object]) -> None:
        """Not every such change moves the time of the last one."""
        assert repo(reply(load("repo").json | change)).stamp != repo(replayed("repo")).stamp

    def test_a_new_name_alone_is_not(self) -> None:
        renamed = {"full_name": "acme/tools", "html_url": "https://git.example.test/acme/tools"}
        assert repo(reply(load("repo").json | renamed)).stamp == repo(replayed("repo")).stamp

    @pytest.mark.parametrize(("second", "settled"), [(29, False), (30, False), (32, False), (33, True)])
    def test_one_that_a_further_push_may_leave_as_it_is_has_no_stamp_yet(self, second: int, settled: bool) -> None:
        """By the forge's own clock: which second of the minute it answers in, after a change in the thirtieth."""
        date = {"date": f"Mon, 30 Nov 2026 14:10:{second} GMT"}
        assert bool(repo(reply(load("repo").json, headers=date)).stamp) is settled
        assert bool(repo_page(reply([load("repo").json], headers=date)).repos[0].stamp) is settled

    def test_an_address_that_is_not_of_the_web_is_left_out(self) -> None:
        assert repo(reply(load("repo").json | {"html_url": "javascript:alert(1)"})).url is None

    @pytest.mark.parametrize(
        "change",
        [
            {"id": None},
            {"id": "132"},
            {"id": 10**30},
            {"id": -1},
            {"id": True},
            {"full_name": None},
            {"full_name": "web"},
            {"full_name": "../.."},
            {"full_name": "a/b\nc"},
            {"full_name": "a/\ud800"},
            {"updated_at": None},
            {"updated_at": 5},
            {"archived": "no"},
            {"default_branch": ["main"]},
        ],
    )
    def test_a_wrong_shape_is_an_error_of_ours(self, change: dict[str, object]) -> None:
        with pytest.raises(Unreachable, match="where the API's answer was expected"):
            repo(reply(load("repo").json | change))


class TestTreePage:
    def test_a_branch_is_answered_with_its_commit(self) -> None:
        page = tree_page(replayed("tree-root"))
        assert page.sha == "38e97de62ddccdbe612da5280b022129514c29b7"
        wiki = Entry(".wiki", 0o040000, "tree", "5a5627d0b3af61769a6fe4a9e2a613ac8fe0c943", 0)
        assert wiki in page.entries

    def test_a_subtree_lists_its_blobs_with_sizes(self) -> None:
        page = tree_page(replayed("tree-wiki-recursive"))
        entry = Entry("concepts/build/cache-keys.md", 0o100644, "blob", "3150f2fc32223accdd12d9801b338b0ec4d2b56d", 27)
        assert entry in page.entries
        assert (page.more, page.total) == (False, 10)

    def test_a_symbolic_link_is_told_by_its_mode(self) -> None:
        modes = {entry.path: entry.mode for entry in tree_page(replayed("tree-with-symlink")).entries}
        assert modes[".wiki/link.md"] == 0o120000

    def test_pages_tell_whether_more_follow(self) -> None:
        assert tree_page(replayed("tree-recursive-page-1")).more
        assert not tree_page(replayed("tree-recursive-page-3")).more

    @pytest.mark.parametrize(
        "change", [{"mode": "rw"}, {"mode": 33188}, {"path": 1}, {"sha": "x"}, {"type": None}, {"size": -1}]
    )
    def test_a_wrong_entry_is_an_error_of_ours(self, change: dict[str, object]) -> None:
        tree = load("tree-root").json
        with pytest.raises(Unreachable):
            tree_page(reply(tree | {"tree": [tree["tree"][0] | change]}))


class TestFileContents:
    def read(self, name: str, *, limit: int = LIMIT) -> tuple[object, ...]:
        return protocol.file_contents(replayed(name), SITE, load(name).sent["files"], limit)

    def test_files_come_whole_and_a_missing_one_is_absent(self) -> None:
        status, index, missing = self.read("file-contents-batch")
        assert status == File(
            ".tasks/STATUS.md", "8fa4fb9de44d419c66aa29d35f31060adce74acd", b"# Status\n\n- [ ] one\n"
        )
        assert index == File(".wiki/index.md", SHA, replayed("raw-index").body)
        assert missing == Absent("STATUS.md")

    def test_an_answer_may_stop_short(self) -> None:
        assert len(self.read("file-contents-batch-is-truncated-at-30")) == 30

    def test_a_big_file_is_not_taken_for_an_empty_page(self) -> None:
        assert self.read("file-contents-batch-big-file")[0] == TooBig(".wiki/concepts/big.md", LIMIT)
        assert self.read("file-contents-batch-big-file", limit=BIG_FILE)[0] == Unread(".wiki/concepts/big.md")

    def test_bytes_that_are_no_text_are_left_as_they_are(self) -> None:
        _, latin, nul = self.read("file-contents-batch-big-file")
        assert latin == File(".wiki/concepts/latin.md", "08b693ac96ce23506dbafcaa5a3f26974822eeda", b"Gr\xf6\xdfe")
        assert isinstance(nul, File)
        assert nul.data == b"a\0b\xff\xfe"

    def test_a_symbolic_link_is_not_taken_for_a_page(self) -> None:
        assert self.read("file-contents-symlink") == (Refused(".wiki/link.md", "a symbolic link"),)

    @pytest.mark.parametrize(("kind", "reason"), [("dir", "a directory"), ("submodule", "a submodule")])
    def test_what_is_no_file_is_named(self, kind: str, reason: str) -> None:
        entry = {"path": "a", "type": kind, "sha": SHA, "size": 0}
        assert protocol.file_contents(reply([entry]), SITE, ["a"], LIMIT) == (Refused("a", reason),)

    def test_an_empty_file_has_no_content(self) -> None:
        entry = {"path": "a", "type": "file", "sha": SHA, "size": 0, "content": None, "encoding": None}
        assert protocol.file_contents(reply([entry]), SITE, ["a"], LIMIT) == (File("a", SHA, b""),)

    def test_base64_may_be_broken_into_lines(self) -> None:
        content = base64.encodebytes(b"text" * 50).decode()
        entry = {"path": "a", "type": "file", "sha": SHA, "size": 200, "content": content, "encoding": "base64"}
        assert protocol.file_contents(reply([entry]), SITE, ["a"], LIMIT) == (File("a", SHA, b"text" * 50),)

    @pytest.mark.parametrize(
        "change",
        [
            {"path": "b"},
            {"size": 3},
            {"content": "eA"},
            {"content": "ü==="},
            {"content": 5},
            {"encoding": "rot13"},
            {"sha": None},
            {"type": 7},
        ],
    )
    def test_a_wrong_entry_is_an_error_of_ours(self, change: dict[str, object]) -> None:
        entry = {"path": "a", "type": "file", "sha": SHA, "size": 1, "content": "eA==", "encoding": "base64"}
        assert protocol.file_contents(reply([entry]), SITE, ["a"], LIMIT) == (File("a", SHA, b"x"),)
        with pytest.raises(Unreachable):
            protocol.file_contents(reply([entry | change]), SITE, ["a"], LIMIT)

    def test_more_files_than_were_asked_for_are_an_error(self) -> None:
        with pytest.raises(Unreachable):
            protocol.file_contents(reply([None, None]), SITE, ["a"], LIMIT)


class TestRaw:
    def read(self, response: Response, path: str = ".wiki/index.md") -> object:
        return protocol.raw(response, SITE, path)

    def test_bytes_come_with_the_name_of_their_blob(self) -> None:
        response = replayed("raw-index")
        assert self.read(response) == File(".wiki/index.md", SHA, response.body)

    @pytest.mark.parametrize("name", ["raw-bom-crlf-index", "raw-nul-file", "raw-latin1-file", "raw-unicode-path"])
    def test_bytes_are_left_as_they_are(self, name: str) -> None:
        file = self.read(replayed(name))
        assert isinstance(file, File)
        assert file.data == replayed(name).body

    @pytest.mark.parametrize("etag", ["W/" + f'"{SHA}"', SHA, "", '"x"'])
    def test_a_tag_that_a_proxy_changed_or_dropped_does_no_harm(self, etag: str) -> None:
        file = self.read(Response(200, {"etag": etag}, replayed("raw-index").body))
        assert isinstance(file, File)
        assert file.sha == SHA

    def test_not_modified_is_told(self) -> None:
        assert self.read(replayed("raw-index-not-modified")) == NotModified()

    def test_a_symbolic_link_is_not_taken_for_a_page(self) -> None:
        assert self.read(replayed("raw-symlink"), "a") == Refused("a", "a symbolic link")

    def test_a_directory_is_named(self) -> None:
        assert self.read(replayed("raw-directory"), "a") == Refused("a", "a directory")

    @pytest.mark.parametrize("name", ["raw-missing-file", "raw-empty-repo"])
    def test_what_is_not_there_is_not_found(self, name: str) -> None:
        with pytest.raises(NotFound):
            self.read(replayed(name))

    def test_a_proxys_page_for_people_is_not_taken_for_a_page(self) -> None:
        with pytest.raises(Unreachable, match="HTML where the API's answer was expected"):
            self.read(Response(200, {"content-type": "text/html; charset=utf-8"}, b"<html>Sign in</html>"))

    def test_an_unknown_ref_is_served_all_the_same(self) -> None:
        assert isinstance(self.read(replayed("raw-missing-ref")), File)


Reader = Callable[[Response], object]
READERS: list[Reader] = [
    repo_page,
    repo,
    tree_page,
    lambda response: protocol.file_contents(response, SITE, ["a"], LIMIT),
]


@pytest.mark.parametrize("reader", READERS, ids=range(len(READERS)))
class TestEveryReader:
    def test_html_where_json_was_expected_is_named(self, reader: Reader) -> None:
        with pytest.raises(Unreachable) as caught:
            reader(Response(200, {"content-type": "text/html"}, b"<html>Please log in</html>"))
        assert caught.value.message == "git.example.test unreachable: HTML where the API's answer was expected"
        assert caught.value.trouble is Trouble.WRONG

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'"text"', b"5", b"[[]]", b'[{"id": NaN}]'])
    def test_json_of_another_shape_is_an_error_of_ours(self, reader: Reader, body: bytes) -> None:
        with pytest.raises(Unreachable):
            reader(Response(200, {}, body))

    def test_a_refused_token_is_told(self, reader: Reader) -> None:
        with pytest.raises(Denied, match=r"^token refused by git\.example\.test — run gateway doctor$"):
            reader(replayed("user-repos-invalid-token"))
        with pytest.raises(Denied, match=r"^no token is set for git\.example\.test — "):
            reader(replayed("user-repos-anonymous"))

    def test_every_recorded_refusal_is_an_error_of_ours(self, reader: Reader) -> None:
        for name in ("contents-create-archived", "not-an-endpoint", "pull-create-again", "issue-create-empty-title"):
            with pytest.raises(KnowledgeError):
                reader(replayed(name))
