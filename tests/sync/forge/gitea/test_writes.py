"""Commits, on a fake forge that answers as a real one does."""

import base64
import json
import re

import anyio
import pytest

from cache.errors import Conflict, InvalidArgument, KnowledgeError, NotFound, Unavailable
from cache.model import ProjectKey, RepoRef
from sync.exchange import Unreachable
from sync.forge.base import File
from sync.forge.blobs import blob_sha
from sync.forge.gitea.failures import ScopeMissing
from sync.forge.writing import BranchExists, Change, Edit, Moved, Protected, Writer
from tests.fake_gitea import Access, FakeGitea, Json, Reply, Symlink, redirect
from tests.fake_gitea.objects import Identity
from tests.fake_gitea.recordings import load
from tests.fake_gitea.rehearse import TOKENS, recorded_world
from tests.fake_gitea.repository import Repo
from tests.support.gitea_client import client_of, fake_forge, ref_of

pytestmark = pytest.mark.anyio

BOB, LIMITED = "fake-token-bob", "fake-token-limited"
INDEX, PAGE, ODD = ".wiki/index.md", ".wiki/concepts/a.md", ".wiki/sources/Über Größe 50% #1?.md"
OLD, NEW = b"# Wiki\n", b"# Wiki\n\n- [A](concepts/a.md)\n"
CREATE = Change(PAGE, b"# A\n", None)
COMMIT = "POST /repos/{owner}/{repo}/contents"
REPO = "GET /repos/{owner}/{repo}"
BRANCH = "GET /repos/{owner}/{repo}/branches/{branch}"


def update(data: bytes = NEW, sha: str | None = None) -> Change:
    return Change(INDEX, data, sha or blob_sha(OLD))


def edit(*changes: Change, branch: str | None = None, new_branch: str | None = None) -> Edit:
    return Edit("wiki: a", changes or (CREATE, update()), branch, new_branch)


@pytest.fixture
def forge() -> FakeGitea:
    forge = fake_forge()
    forge.add_user("bob", token=BOB)
    return forge


@pytest.fixture
def repo(forge: FakeGitea) -> Repo:
    return forge.add_repo("acme/web", {INDEX: OLD, "README.md": "# Web\n"})


async def refusal(forge: FakeGitea, repo: Repo, what: Edit | None = None, *, token: str = TOKENS["alice"]) -> str:
    """The line that says why a commit was refused; the repository then has none more than before."""
    before = dict(repo.branches)
    async with client_of(forge, token=token) as client:
        with pytest.raises(KnowledgeError) as caught:
            await client.write(ref_of(repo), what or edit())
    assert repo.branches == before
    assert forge.counts[COMMIT] == 1
    return caught.value.line


class TestWrite:
    async def test_all_files_go_into_one_commit(self, forge: FakeGitea, repo: Repo) -> None:
        before = repo.branches["main"]
        async with client_of(forge) as client:
            written = await client.write(ref_of(repo), edit())
        assert (repo.read(PAGE), repo.read(INDEX)) == (b"# A\n", NEW)
        assert written.shas == {PAGE: blob_sha(b"# A\n"), INDEX: blob_sha(NEW)}
        tip = repo.tip()
        assert tip is not None
        assert (tip.sha, tip.parents, tip.message) == (written.commit, (before,), "wiki: a\n")
        assert forge.counts == {COMMIT: 1}

    async def test_it_goes_out_as_it_was_recorded(self) -> None:
        sent = load("contents-multi-create").sent
        changes = [Change(one["path"], base64.b64decode(one["content"]), one.get("sha")) for one in sent["files"]]
        forge = recorded_world()
        async with client_of(forge) as client:
            name = "acme/node-utils"
            written = await client.write(ref_of(forge.repo(name)), Edit(sent["message"], tuple(changes), "main"))
        assert json.loads(forge.requests[0].body) == sent
        assert written.shas == {one["path"]: one["sha"] for one in load("contents-multi-create").json["files"]}

    async def test_the_default_branch_is_the_forges(self, forge: FakeGitea) -> None:
        repo = forge.add_repo("acme/api", {INDEX: OLD}, default_branch="trunk")
        async with client_of(forge) as client:
            await client.write(RepoRef(ProjectKey("main", repo.id), "acme/api", "main"), edit())
        assert repo.read(PAGE, "trunk") == b"# A\n"

    async def test_what_was_written_is_read_at_once(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            await client.read(ref_of(repo), [INDEX], limit=100)
            written = await client.write(ref_of(repo), edit())
            for ref in (None, written.commit):
                (answer,) = await client.read(ref_of(repo), [INDEX], ref=ref, limit=100)
                assert answer == File(INDEX, written.shas[INDEX], NEW)

    @pytest.mark.parametrize("data", [b"", b"\xff\x00\r\n", "Ü – \u2028".encode(), b"x" * 400_000])
    async def test_any_bytes_arrive_as_they_are(self, forge: FakeGitea, repo: Repo, data: bytes) -> None:
        async with client_of(forge) as client:
            await client.write(ref_of(repo), edit(Change(PAGE, data, None)))
        assert repo.read(PAGE) == data

    async def test_names_of_any_kind_are_written_as_they_are(self, forge: FakeGitea, repo: Repo) -> None:
        branch = "knowledge/Ü 50%25 #1+"
        async with client_of(forge) as client:
            await client.write(ref_of(repo), edit(Change(ODD, b"x", None), new_branch=branch))
            written = await client.write(ref_of(repo), edit(Change(ODD, b"y", blob_sha(b"x")), branch=branch))
            assert await client.branch_head(ref_of(repo), branch) == written.commit
            change = await client.last_change(ref_of(repo), ODD, branch=branch)
        assert (repo.read(ODD, branch), repo.read(ODD)) == (b"y", None)
        assert change is not None
        assert change.commit == written.commit

    async def test_an_empty_repository_gets_its_first_commit(self, forge: FakeGitea) -> None:
        repo = forge.add_repo("acme/empty")
        async with client_of(forge) as client:
            written = await client.write(ref_of(repo), edit(CREATE))
        assert (repo.branches, repo.read(PAGE)) == ({"main": written.commit}, b"# A\n")

    async def test_a_new_branch_leaves_the_old_one_alone(self, forge: FakeGitea, repo: Repo) -> None:
        before = repo.branches["main"]
        async with client_of(forge) as client:
            written = await client.write(ref_of(repo), edit(new_branch="knowledge/a"))
        assert repo.branches == {"main": before, "knowledge/a": written.commit}

    async def test_a_renamed_repository_is_written_to_under_its_new_name(self, forge: FakeGitea, repo: Repo) -> None:
        old = ref_of(repo)
        forge.rename("acme/web", "acme/site")
        async with client_of(forge) as client:
            await client.write(old, edit())
        first, second = forge.requests
        assert (first.status, second.status, second.path) == (301, 201, "/repos/acme/site/contents")
        assert (second.method, second.body) == ("POST", first.body)
        assert len(repo.objects.commits) == 2

    @pytest.mark.parametrize("path", ["", "/a.md", "a/../../b.md", "a//b", "a\0b", "\ud800", "."])
    async def test_what_is_no_path_is_never_sent(self, forge: FakeGitea, repo: Repo, path: str) -> None:
        async with client_of(forge) as client:
            with pytest.raises(InvalidArgument, match="no files that can be written in one commit"):
                await client.write(ref_of(repo), edit(CREATE, Change(path, b"", None)))
        assert forge.requests == []

    @pytest.mark.parametrize("count", [0, 31])
    async def test_no_files_or_too_many_are_never_sent(self, forge: FakeGitea, repo: Repo, count: int) -> None:
        changes = tuple(Change(f"{number}.md", b"", None) for number in range(count))
        async with client_of(forge) as client:
            with pytest.raises(InvalidArgument):
                await client.write(ref_of(repo), Edit("m", changes))
        assert forge.requests == []


class TestMoved:
    async def test_a_file_that_changed_meanwhile_is_named(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({INDEX: "# Wiki\n\nSomebody else.\n"})
        assert await refusal(forge, repo) == f"conflict: changed meanwhile: {INDEX}"
        assert repo.read(INDEX) == b"# Wiki\n\nSomebody else.\n"

    async def test_a_file_that_was_created_meanwhile_is_named(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({PAGE: "Somebody else.\n"})
        assert await refusal(forge, repo) == f"conflict: changed meanwhile: {PAGE}"

    async def test_a_file_that_was_removed_meanwhile_is_named(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({INDEX: None})
        assert await refusal(forge, repo) == f"conflict: changed meanwhile: {INDEX}"

    async def test_the_errors_type_tells_which_paths(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            with pytest.raises(Moved) as caught:
                await client.write(ref_of(repo), edit(update(sha="1" * 40), Change("README.md", b"x", None)))
        assert caught.value.paths == (INDEX,)

    async def test_of_two_at_once_one_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        outcomes: list[object] = []

        async def write(writer: Writer, number: int) -> None:
            try:
                await writer.write(ref_of(repo), edit(update(b"%d" % number)))
                outcomes.append(number)
            except Moved as moved:
                outcomes.append(moved.paths)

        async with client_of(forge) as client, anyio.create_task_group() as group:
            for number in range(2):
                group.start_soon(write, client, number)
        (winner,) = (outcome for outcome in outcomes if isinstance(outcome, int))
        assert (INDEX,) in outcomes
        assert repo.read(INDEX) == b"%d" % winner

    async def test_a_new_branch_that_is_there_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({"a.md": "x"}, branch="knowledge/a")
        async with client_of(forge) as client:
            with pytest.raises(BranchExists, match="branch knowledge/a exists already"):
                await client.write(ref_of(repo), edit(new_branch="knowledge/a"))

    @pytest.mark.parametrize("path", ["README.md/a.md", ".wiki", "link"])
    async def test_something_else_in_the_way_is_no_change(self, forge: FakeGitea, repo: Repo, path: str) -> None:
        repo.commit({"link": Symlink("README.md")})
        async with client_of(forge) as client:
            with pytest.raises(Conflict, match=r"acme/web: a .* exists where") as caught:
                await client.write(ref_of(repo), edit(Change(path, b"x", None)))
        assert not isinstance(caught.value, Moved)


ARCHIVED = "denied: {} is archived — unarchive it, or write elsewhere", "{} is not allowed to edit"
PROTECTED = "denied: branch main of {} is protected — open a pull request", "user cannot commit to repo [user: alice]"
READ_ONLY = (
    "denied: no more than a read-only collaborator of {} — ask for write access",
    "user should have a permission to write to the target branch",
)
REFUSED = [
    ("alice/proj-014", "alice", *ARCHIVED),
    ("alice/proj-005", "alice", *PROTECTED),
    ("alice/proj-005", "bob", *READ_ONLY),
    ("alice/proj-000", "bob", *READ_ONLY),
    ("acme/node-utils", "bob", "not_found: not found or not visible to this token", None),
]


def parts(told: str) -> tuple[str, str | None]:
    """A line, and the forge's own words behind it."""
    found = re.fullmatch(r"(.*) \(127\.0\.0\.1:[0-9]+: (.*)\)", told)
    return (told, None) if found is None else (found[1], found[2])


class TestRefused:
    @pytest.mark.parametrize(("name", "caller", "line", "words"), REFUSED)
    async def test_recorded_refusals_have_a_line_each_with_the_forges_words(
        self, name: str, caller: str, line: str, words: str | None
    ) -> None:
        forge = recorded_world()
        told = await refusal(forge, forge.repo(name), edit(CREATE), token=TOKENS[caller])
        assert parts(told) == (line.format(name), words and words.format(name))

    @pytest.mark.parametrize(("name", "caller", "line"), [refused[:3] for refused in REFUSED])
    async def test_what_the_repository_refuses_can_be_told_before(self, name: str, caller: str, line: str) -> None:
        forge = recorded_world()
        async with client_of(forge, token=TOKENS[caller]) as client:
            with pytest.raises(KnowledgeError) as caught:
                await client.rehearse(ref_of(forge.repo(name)), edit(CREATE))
        assert caught.value.line == line.format(name)
        assert {exchange.method for exchange in forge.requests} == {"GET"}

    @pytest.mark.parametrize("files", [{"README.md": "x"}, {}], ids=["some-commits", "no-commit"])
    async def test_before_it_is_written_nothing_is_said_of_a_repository_that_takes_it(
        self, forge: FakeGitea, files: dict[str, str]
    ) -> None:
        repo = forge.add_repo("acme/other", files)
        async with client_of(forge) as client:
            await client.rehearse(ref_of(repo), edit(CREATE))
        assert {exchange.method for exchange in forge.requests} == {"GET"}

    async def test_a_new_branch_is_not_refused_before_because_another_is_protected(
        self, forge: FakeGitea, repo: Repo
    ) -> None:
        repo.protect()
        async with client_of(forge) as client:
            await client.rehearse(ref_of(repo), edit(new_branch="knowledge/a"))

    async def test_a_missing_scope_is_named_and_nothing_more_asked(self) -> None:
        forge = recorded_world()
        line = await refusal(forge, forge.repo("alice/proj-003"), edit(CREATE), token=TOKENS["bob_readonly"])
        assert line.startswith("denied: token lacks the scope write:repository on 127.0.0.1:")
        assert len(forge.requests) == 1

    async def test_a_collaborator_who_may_write_is_kept_from_a_protected_branch_alone(
        self, forge: FakeGitea, repo: Repo
    ) -> None:
        repo.share("bob", Access.WRITE)
        repo.protect()
        async with client_of(forge, token=BOB) as client:
            with pytest.raises(Protected):
                await client.write(ref_of(repo), edit())
            assert forge.counts == {COMMIT: 1, REPO: 1, BRANCH: 1}
            await client.write(ref_of(repo), edit(new_branch="knowledge/a"))
        assert repo.read(PAGE, "knowledge/a") == b"# A\n"

    async def test_a_protected_branch_that_is_not_the_default_one_is_named(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({"a": "x"}, branch="knowledge/a b")
        repo.protect("knowledge/a b")
        line = await refusal(forge, repo, edit(branch="knowledge/a b"))
        assert parts(line)[0] == "denied: branch knowledge/a b of acme/web is protected — open a pull request"

    async def test_a_new_branch_that_is_refused_is_not_called_protected(self, forge: FakeGitea, repo: Repo) -> None:
        repo.protect()
        words = "user cannot commit to repo [user: alice]"
        forge.faults.add(Reply(403, json.dumps({"message": words}), "application/json"), method="POST")
        line = await refusal(forge, repo, edit(new_branch="knowledge/a"))
        assert line.endswith(f"answers HTTP 403 Forbidden: {words}")

    async def test_a_mirror_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        locked = Reply(423, '{"message": "acme/web is not allowed to edit"}', "application/json")
        forge.faults.add(locked, method="POST")
        forge.faults.add(Json({"full_name": "acme/web", "mirror": True}), method="GET")
        line = await refusal(forge, repo)
        assert parts(line) == (
            "denied: acme/web is a mirror — write to the repository that it mirrors",
            "acme/web is not allowed to edit",
        )

    @pytest.mark.parametrize("fault", [Reply(500), Json({}), Json(None)], ids=repr)
    async def test_what_cannot_be_explained_keeps_the_forges_words(
        self, forge: FakeGitea, repo: Repo, fault: Reply | Json
    ) -> None:
        repo.protect()
        forge.faults.add(fault, method="GET")
        assert (await refusal(forge, repo)).endswith("user cannot commit to repo [user: alice]")

    async def test_a_refused_token_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        line = await refusal(forge, repo, token=TOKENS["invalid"])
        assert "denied: token refused by 127.0.0.1:" in line

    async def test_a_branch_that_is_missing_is_not_found(self, forge: FakeGitea, repo: Repo) -> None:
        assert await refusal(forge, repo, edit(branch="gone")) == "not_found: acme/web has no branch gone"

    @pytest.mark.parametrize(
        ("fault", "part"),
        [
            (Reply(429, headers={"retry-after": "0"}), "HTTP 429 Too Many Requests"),
            (Reply(503, headers={"retry-after": "0"}), "HTTP 503 Service Unavailable"),
            (Reply(413), "HTTP 413"),
            (redirect("/user/login"), "it redirects"),
        ],
        ids=repr,
    )
    async def test_who_did_not_begin_is_unavailable_and_not_asked_again(
        self, forge: FakeGitea, repo: Repo, fault: Reply, part: str
    ) -> None:
        forge.faults.add(fault, method="POST")
        before = dict(repo.branches)
        async with client_of(forge) as client:
            with pytest.raises(Unavailable, match=part) as caught:
                await client.write(ref_of(repo), edit())
        assert type(caught.value) in (Unavailable, Unreachable)
        assert (repo.branches, len(forge.requests)) == (before, 1)


class TestBranchHead:
    async def test_it_is_the_commit_to_read_at(self, forge: FakeGitea, repo: Repo) -> None:
        repo.commit({INDEX: "theirs"}, branch="knowledge/a")
        async with client_of(forge) as client:
            head = await client.branch_head(ref_of(repo), "knowledge/a")
            (answer,) = await client.read(ref_of(repo), [INDEX], ref=head, limit=100)
        assert isinstance(answer, File)
        assert answer.data == b"theirs"

    async def test_a_branch_that_is_missing_has_none(self, forge: FakeGitea, repo: Repo) -> None:
        async with client_of(forge) as client:
            assert await client.branch_head(ref_of(repo), "gone") is None

    async def test_a_repository_that_is_missing_is_not_found(self, forge: FakeGitea) -> None:
        async with client_of(forge) as client:
            with pytest.raises(NotFound, match="not visible"):
                await client.branch_head(RepoRef(ProjectKey("main", 9), "acme/none", "main"), "main")


class TestLastChange:
    async def test_it_is_who_touched_the_path_last(self, forge: FakeGitea, repo: Repo) -> None:
        theirs = repo.commit({INDEX: "theirs"}, author=Identity("Carol", "carol@example.test"))
        repo.commit({"README.md": "later"})
        async with client_of(forge) as client:
            change = await client.last_change(ref_of(repo), INDEX)
        assert change is not None
        at = repo.objects.commits[theirs].committed
        assert (change.commit, change.author, change.at) == (theirs, "Carol", float(at))

    async def test_it_is_asked_for_as_it_was_recorded(self) -> None:
        forge = recorded_world()
        async with client_of(forge) as client:
            await client.last_change(ref_of(forge.repo("acme/node-utils")), INDEX)
        assert forge.requests[0].target.replace("%2F", "/") == load("commits-of-path").target.removeprefix("/api/v1")

    @pytest.mark.parametrize("path", ["none.md", ODD, "a\0b", ""])
    async def test_nobody_touched_what_never_was(self, forge: FakeGitea, repo: Repo, path: str) -> None:
        async with client_of(forge) as client:
            assert await client.last_change(ref_of(repo), path) is None

    async def test_nobody_touched_anything_in_an_empty_repository(self, forge: FakeGitea) -> None:
        empty = forge.add_repo("acme/empty")
        async with client_of(forge) as client:
            assert await client.last_change(ref_of(empty), INDEX) is None

    async def test_a_repository_that_is_not_visible_is_not_found(self, forge: FakeGitea) -> None:
        hidden = forge.add_repo("acme/hidden", {INDEX: OLD}, private=True)
        async with client_of(forge, token=BOB) as client:
            with pytest.raises(NotFound, match="not visible"):
                await client.last_change(ref_of(hidden), INDEX)

    async def test_a_token_without_the_scope_is_told(self, forge: FakeGitea, repo: Repo) -> None:
        forge.add_token("bob", LIMITED, {"read:user"})
        async with client_of(forge, token=LIMITED) as client:
            with pytest.raises(ScopeMissing, match="read:repository"):
                await client.last_change(ref_of(repo), INDEX)
