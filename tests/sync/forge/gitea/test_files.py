"""Files, read in the cheapest way that a forge offers."""

import base64
import json

import pytest

from cache.errors import Denied, NotFound, Unavailable
from cache.model import ProjectKey, RepoRef
from sync.exchange import Response, Unreachable
from sync.forge.base import Absent, Answer, File, Refused, TooBig, Unchanged
from sync.forge.blobs import blob_sha
from sync.forge.gitea import calls
from tests.fake_gitea import FORGEJO, GITEA, GITEA_1_22, Dialect, Limits, Symlink, web_page
from tests.fake_gitea.forge import FakeGitea
from tests.support.git_files import FileContent
from tests.support.gitea_client import READS, Scripted, client_of, fake_forge, ref_of, scripted_client
from tests.support.replies import BIG_FILE, replayed, reply

pytestmark = pytest.mark.anyio

LIMIT = 10_000
READER = "fake-token-reader"
FILES = {".wiki/index.md": "# Wiki\n", ".wiki/concepts/a.md": "# A\n", ".tasks/STATUS.md": "# Status\n"}
BATCH = "GET /repos/{owner}/{repo}/file-contents"
LONG_BATCH = "POST /repos/{owner}/{repo}/file-contents"
RAW = "GET /repos/{owner}/{repo}/raw/{filepath}"
WEB = RepoRef(ProjectKey("main", 1), "acme/web", "main")


def entry(path: str, data: bytes) -> dict[str, object]:
    """A file as ``file-contents`` shows it."""
    content = base64.b64encode(data).decode()
    return {
        "path": path,
        "type": "file",
        "sha": blob_sha(data),
        "size": len(data),
        "encoding": "base64",
        "content": content,
    }


def batch(*paths: str, ref: str | None = None) -> str:
    """The request for these files of ``WEB``."""
    call = calls.file_contents(WEB.name, paths, ref=ref, by_get=True)
    return f"{call.method} {call.target.removeprefix(calls.API)}"


async def read(forge: FakeGitea, repo: RepoRef, *paths: str, limit: int = LIMIT) -> tuple[Answer, ...]:
    """Files of the commit that the repository is at."""
    async with client_of(forge) as client:
        head = await client.head(repo)
        assert head is not None
        forge.reset_counts()
        return await client.read(repo, paths, ref=head.commit, limit=limit)


@pytest.mark.parametrize("dialect", [GITEA, GITEA_1_22, FORGEJO])
async def test_every_kind_of_path_has_its_answer(dialect: Dialect) -> None:
    forge = fake_forge(dialect=dialect)
    files: dict[str, FileContent] = {
        **FILES,
        ".wiki/link.md": Symlink("../../etc/passwd"),
        ".wiki/Über 50%25 #1?.md": "ü",
        ".wiki/big.md": "x" * (LIMIT + 1),
        ".wiki/latin.md": b"Gr\xf6\xdfe",
        ".wiki/none.md": b"",
    }
    repo = forge.add_repo("acme/web", files)
    paths = [*files, ".wiki/concepts", ".wiki/missing.md", ".wiki/../x.md", "", "a\0b", ".wiki/index.md"]
    answers = await read(forge, ref_of(repo), *paths)
    assert [answer.data if isinstance(answer, File) else answer for answer in answers] == [
        b"# Wiki\n",
        b"# A\n",
        b"# Status\n",
        Refused(".wiki/link.md", "a symbolic link"),
        "ü".encode(),
        TooBig(".wiki/big.md", LIMIT),
        b"Gr\xf6\xdfe",
        b"",
        Refused(".wiki/concepts", "a directory"),
        Absent(".wiki/missing.md"),
        Absent(".wiki/../x.md"),
        Absent(""),
        Absent("a\0b"),
        b"# Wiki\n",
    ]


async def test_thirty_files_are_one_request() -> None:
    forge = fake_forge()
    repo = forge.add_repo("acme/web", {f"p{number}.md": str(number) for number in range(100)})
    answers = await read(forge, ref_of(repo), *(f"p{number}.md" for number in range(100)))
    assert [answer.data for answer in answers if isinstance(answer, File)] == [str(n).encode() for n in range(100)]
    assert forge.counts == {BATCH: 4}


async def test_a_forge_that_answers_fewer_than_asked_is_asked_on() -> None:
    forge = fake_forge(limits=Limits(default_paging_num=7))
    repo = forge.add_repo("acme/web", {f"p{number}.md": str(number) for number in range(20)})
    answers = await read(forge, ref_of(repo), *(f"p{number}.md" for number in range(20)))
    assert [answer.data for answer in answers if isinstance(answer, File)] == [str(n).encode() for n in range(20)]
    assert len(forge.requests) == 3


async def test_a_file_that_is_too_big_for_a_batch_is_read_alone() -> None:
    forge = fake_forge(limits=Limits(default_max_blob_size=100))
    repo = forge.add_repo("acme/web", {"a.md": "x" * 200, "b.md": "y"})
    a, b = await read(forge, ref_of(repo), "a.md", "b.md")
    assert isinstance(a, File)
    assert (a.data, b) == (b"x" * 200, File("b.md", blob_sha(b"y"), b"y"))


@pytest.mark.parametrize("dialect", [GITEA_1_22, FORGEJO])
async def test_an_older_forge_is_asked_for_a_batch_once(dialect: Dialect) -> None:
    forge = fake_forge(dialect=dialect)
    repo = ref_of(forge.add_repo("acme/web", FILES))
    async with client_of(forge) as client:
        for _ in range(3):
            answers = await client.read(repo, tuple(FILES), limit=LIMIT)
            assert all(isinstance(answer, File) for answer in answers)
    assert forge.counts == {BATCH: 1, RAW: 9}


async def test_a_token_that_may_only_read_gets_batches_too() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", {f"straße {number}.md": "x" * number for number in range(60)}))
    forge.add_token("alice", READER, READS)
    async with client_of(forge, token=READER) as client:
        for _ in range(2):
            answers = await client.read(repo, [f"straße {number}.md" for number in range(60)], limit=LIMIT)
            assert all(isinstance(answer, File) for answer in answers)
    assert forge.counts == {BATCH: 4}


async def test_paths_too_long_for_an_address_are_asked_for_by_post() -> None:
    forge = fake_forge()
    paths = [f"{'x' * 200} {number}.md" for number in range(30)]
    repo = ref_of(forge.add_repo("acme/web", dict.fromkeys(paths, "text")))
    async with client_of(forge) as client:
        assert all(isinstance(answer, File) for answer in await client.read(repo, paths, limit=LIMIT))
    assert forge.counts == {LONG_BATCH: 1}


async def test_a_token_that_may_not_post_gets_shorter_batches_of_them() -> None:
    forge = fake_forge()
    paths = [f"{'x' * 200} {number}.md" for number in range(30)]
    repo = ref_of(forge.add_repo("acme/web", dict.fromkeys(paths, "text")))
    forge.add_token("alice", READER, READS)
    async with client_of(forge, token=READER) as client:
        for _ in range(2):
            assert all(isinstance(answer, File) for answer in await client.read(repo, paths, limit=LIMIT))
    assert forge.counts == {LONG_BATCH: 1, BATCH: 2 * 2}


@pytest.mark.parametrize("paths", [[".wiki/index.md"], [".wiki/index.md", "b.md"]])
async def test_a_token_that_may_not_even_read_is_told_what_it_lacks(paths: list[str]) -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    forge.add_token("alice", READER, {"read:user"})
    async with client_of(forge, token=READER) as client:
        with pytest.raises(Denied, match="token lacks the scope read:repository"):
            await client.read(repo, paths, limit=LIMIT)


async def test_one_file_as_it_is_now_is_read_by_its_bytes() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    async with client_of(forge) as client:
        (answer,) = await client.read(repo, [".wiki/index.md"], limit=LIMIT)
    assert isinstance(answer, File)
    assert forge.counts == {RAW: 1}


async def test_a_commit_that_is_gone_is_not_taken_for_the_default_branch() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    async with client_of(forge) as client:
        with pytest.raises(Unavailable, match="acme/web has no commit 0123456789 any more"):
            await client.read(repo, [".wiki/index.md"], ref="0123456789" * 4, limit=LIMIT)


@pytest.mark.parametrize("dialect", [GITEA_1_22, FORGEJO])
async def test_what_an_older_forge_does_not_find_in_a_commit_is_missing_if_the_commit_is_not(dialect: Dialect) -> None:
    forge = fake_forge(dialect=dialect)
    repo = forge.add_repo("acme/web", FILES)
    paths, tip = [".wiki/a.md", ".wiki/b.md"], repo.branches["main"]
    async with client_of(forge) as client:
        assert await client.read(ref_of(repo), paths, ref=tip, limit=LIMIT) == tuple(map(Absent, paths))
        with pytest.raises(Unavailable, match="acme/web has no commit 0123456789 any more"):
            await client.read(ref_of(repo), paths, ref="0123456789" * 4, limit=LIMIT)


async def test_an_empty_repository_has_no_files() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/empty"))
    async with client_of(forge) as client:
        assert await client.read(repo, ["a.md"], limit=LIMIT) == (Absent("a.md"),)
        assert await client.read(repo, ["a.md", "b.md"], limit=LIMIT) == (Absent("a.md"), Absent("b.md"))


@pytest.mark.parametrize("paths", [["a.md"], ["a.md", "b.md"]])
async def test_a_repository_that_is_not_visible_is_not_found(paths: list[str]) -> None:
    async with client_of(fake_forge()) as client:
        with pytest.raises(NotFound, match="not found or not visible to this token"):
            await client.read(RepoRef(ProjectKey("main", 9), "acme/none", "main"), paths, limit=LIMIT)


@pytest.mark.parametrize("paths", [[".wiki/index.md"], [".wiki/index.md", "b.md"]])
async def test_a_renamed_repository_is_read_under_its_new_name(paths: list[str]) -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    forge.rename("acme/web", "acme/site")
    async with client_of(forge) as client:
        assert isinstance((await client.read(repo, paths, limit=LIMIT))[0], File)


async def test_nothing_asked_for_costs_nothing() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    async with client_of(forge) as client:
        assert await client.read(repo, [], limit=LIMIT) == ()
        assert await client.read(repo, ["../x"], limit=LIMIT) == (Absent("../x"),)
    assert forge.requests == []


async def test_an_answer_that_is_too_large_is_asked_for_in_parts() -> None:
    a, b, c = (reply([entry(path, path.encode())]) for path in "abc")
    far_too_much = Response(200, {"content-length": "99999999"})
    network = Scripted(
        {
            batch("a", "b", "c"): far_too_much,
            batch("a"): a,
            batch("b", "c"): far_too_much,
            batch("b"): b,
            batch("c"): c,
        }
    )
    answers = await scripted_client(network).read(WEB, ["a", "b", "c"], limit=LIMIT)
    assert [answer.data for answer in answers if isinstance(answer, File)] == [b"a", b"b", b"c"]
    asked = ["".join(json.loads(request.url.params["body"])["files"]) for request in network.sent]
    assert asked == ["abc", "a", "bc", "b", "c"]


async def test_one_file_that_is_too_large_for_a_batch_is_read_alone() -> None:
    network = Scripted(
        {
            batch("a", ref="x"): Response(200, {"content-length": "99999999"}),
            "GET /repos/acme/web/raw/a?ref=x": Response(200, {}, b"text"),
        }
    )
    (answer,) = await scripted_client(network).read(WEB, ["a"], ref="x", limit=LIMIT)
    assert answer == File("a", blob_sha(b"text"), b"text")


async def test_a_batch_that_answers_nothing_is_read_one_by_one() -> None:
    network = Scripted(
        {
            batch("a", "b"): reply([]),
            "GET /repos/acme/web/raw/a": Response(200, {}, b"text"),
            "GET /repos/acme/web/raw/b": reply({"message": "not found"}, 404),
        }
    )
    answers = await scripted_client(network).read(WEB, ["a", "b"], limit=LIMIT)
    assert answers == (File("a", blob_sha(b"text"), b"text"), Absent("b"))


async def test_a_big_file_is_read_whole_or_refused() -> None:
    network = Scripted({"GET /repos/acme/web/raw/big.md": replayed("raw-big-file")})
    client = scripted_client(network)
    assert await client.read(WEB, ["big.md"], limit=LIMIT) == (TooBig("big.md", LIMIT),)
    (answer,) = await client.read(WEB, ["big.md"], limit=BIG_FILE)
    assert isinstance(answer, File)
    assert (answer.sha, len(answer.data)) == ("d220207a7405d0ccb6805f13d2fd6b7a24caa44c", BIG_FILE)


async def test_a_body_that_never_ends_is_larger_than_the_limit() -> None:
    network = Scripted({"GET /repos/acme/web/raw/a": Response(200, {}, b"x" * (LIMIT + 1))})
    assert await scripted_client(network).read(WEB, ["a"], limit=LIMIT) == (TooBig("a", LIMIT),)


async def test_a_proxys_page_in_place_of_a_batch_is_not_remembered() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    forge.faults.add(web_page(404), path="/repos/*/file-contents", times=1)
    async with client_of(forge) as client:
        for _ in range(2):
            answers = await client.read(repo, tuple(FILES), limit=LIMIT)
            assert all(isinstance(answer, File) for answer in answers)
    assert forge.counts == {BATCH: 2, RAW: 3}


async def test_a_forge_that_has_neither_way_is_none() -> None:
    forge = fake_forge()
    repo = ref_of(forge.add_repo("acme/web", FILES))
    forge.faults.add(web_page(404))
    async with client_of(forge) as client:
        with pytest.raises(Unreachable, match="no Gitea API at this address"):
            await client.read(repo, tuple(FILES), limit=LIMIT)
        forge.faults.clear()
        await client.read(repo, tuple(FILES), limit=LIMIT)
    assert forge.counts[BATCH] == 2


class TestRevalidate:
    async def test_a_file_that_is_still_the_same_is_not_sent_again(self) -> None:
        forge = fake_forge()
        repo = ref_of(forge.add_repo("acme/web", FILES))
        sha = blob_sha(b"# A\n")
        async with client_of(forge) as client:
            answer = await client.revalidate(repo, ".wiki/concepts/a.md", sha, limit=LIMIT)
        assert answer == Unchanged(".wiki/concepts/a.md", sha)
        assert [exchange.status for exchange in forge.requests] == [304]

    async def test_one_that_changed_comes_whole(self) -> None:
        forge = fake_forge()
        repo = ref_of(forge.add_repo("acme/web", FILES))
        async with client_of(forge) as client:
            answer = await client.revalidate(repo, ".wiki/concepts/a.md", "0" * 40, limit=LIMIT)
        assert answer == File(".wiki/concepts/a.md", blob_sha(b"# A\n"), b"# A\n")

    @pytest.mark.parametrize("path", [".wiki/none.md", "../x"])
    async def test_one_that_is_gone_is_absent(self, path: str) -> None:
        forge = fake_forge()
        repo = ref_of(forge.add_repo("acme/web", FILES))
        async with client_of(forge) as client:
            assert await client.revalidate(repo, path, "0" * 40, limit=LIMIT) == Absent(path)

    async def test_a_repository_that_is_gone_is_not_found(self) -> None:
        async with client_of(fake_forge()) as client:
            with pytest.raises(NotFound):
                await client.revalidate(WEB, "a.md", "0" * 40, limit=LIMIT)
