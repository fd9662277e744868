"""The forge interface over Gitea's API, on a fake forge that answers as a real one does."""

import pytest

from cache.errors import Denied, NotFound, Unavailable
from cache.model import Listed, ProjectKey, RepoRef, TreeEntry
from sync.exchange import Unreachable
from sync.forge.base import Head
from tests.fake_gitea import Json, Limits, Submodule, Symlink
from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.repository import Repo
from tests.support.gitea_client import client_of, fake_forge, ref_of

pytestmark = pytest.mark.anyio

LIMITED = "fake-token-limited"
FILES = {".wiki/index.md": "# Wiki\n", ".wiki/concepts/a.md": "# A\n", ".tasks/STATUS.md": "# Status\n"}


class TestFind:
    async def test_a_repository_is_found_without_case(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/Web", FILES)
        async with client_of(forge) as client:
            found = await client.find("ACME/web")
        assert isinstance(found, Listed)
        assert found.repo == ref_of(repo)

    async def test_a_renamed_one_is_found_under_its_new_name(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES)
        forge.rename("acme/web", "acme/site")
        async with client_of(forge) as client:
            assert (await client.find("acme/web")).repo == ref_of(repo)

    @pytest.mark.parametrize("name", ["acme/none", "web", "acme/../..", ""])
    async def test_one_that_is_not_there_is_not_found(self, name: str) -> None:
        async with client_of(fake_forge()) as client:
            with pytest.raises(NotFound, match="not found or not visible to this token"):
                await client.find(name)

    async def test_a_token_without_the_scope_is_told_which(self) -> None:
        forge = fake_forge()
        forge.add_repo("acme/web", FILES)
        forge.add_token("alice", LIMITED, {"read:user"})
        async with client_of(forge, token=LIMITED) as client:
            with pytest.raises(Denied, match="token lacks the scope read:repository"):
                await client.find("acme/web")


class TestHead:
    async def test_the_tip_is_a_commit_with_the_wikis_tree(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES)
        async with client_of(forge) as client:
            head = await client.head(ref_of(repo))
        assert head is not None
        assert head.names == frozenset({".wiki", ".tasks"})
        assert head.wiki_tree is not None
        assert forge.counts == {"GET /repos/{owner}/{repo}/git/trees/{sha}": 1}

    async def test_a_repository_without_a_wiki_has_no_such_tree(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", {"README.md": "x"})
        async with client_of(forge) as client:
            head = await client.head(ref_of(repo))
        assert head is not None
        assert head.wiki_tree is None

    async def test_a_wiki_that_is_no_folder_is_none(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", {".wiki": "a file"})
        async with client_of(forge) as client:
            head = await client.head(ref_of(repo))
        assert head is not None
        assert head.wiki_tree is None

    async def test_an_empty_repository_has_no_head(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/empty")
        async with client_of(forge) as client:
            assert await client.head(ref_of(repo)) is None

    async def test_a_default_branch_that_changed_is_followed(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES, default_branch="trunk")
        old = RepoRef(ProjectKey("main", repo.id), "acme/web", "main")
        async with client_of(forge) as client:
            assert await client.head(old) == await client.head(ref_of(repo))

    async def test_a_branch_with_a_slash_is_one(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES, default_branch="feature/a b")
        async with client_of(forge) as client:
            assert await client.head(ref_of(repo)) is not None

    async def test_one_that_is_not_visible_is_not_found(self) -> None:
        async with client_of(fake_forge()) as client:
            with pytest.raises(NotFound):
                await client.head(RepoRef(ProjectKey("main", 9), "acme/none", "main"))

    async def test_a_wiki_beyond_the_first_page_of_the_root_folder_is_found(self) -> None:
        forge = fake_forge(limits=Limits(default_git_trees_per_page=3))
        repo = forge.add_repo("acme/web", {**FILES, **{f"!{number}.md": "x" for number in range(7)}})
        async with client_of(forge) as client:
            head = await client.head(ref_of(repo))
            assert head is not None
            assert head.wiki_tree is not None
            assert await client.wiki_tree(ref_of(repo), head) != ()

    async def test_a_default_branch_that_does_not_exist_is_told(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES)
        repo.default_branch = "gone"
        async with client_of(forge) as client:
            with pytest.raises(Unavailable, match="acme/web has no branch gone, its default one"):
                await client.head(ref_of(repo))

    async def test_a_rename_meanwhile_is_followed(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES)
        old = ref_of(repo)
        forge.rename("acme/web", "acme/site")
        async with client_of(forge) as client:
            assert await client.head(old) == await client.head(ref_of(repo))


class TestWikiTree:
    async def tree(self, forge: FakeGitea, repo: Repo) -> tuple[TreeEntry, ...]:
        async with client_of(forge) as client:
            head = await client.head(ref_of(repo))
            assert head is not None
            return await client.wiki_tree(ref_of(repo), head)

    async def test_blobs_and_links_are_listed_by_path(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo(
            "acme/web",
            {**FILES, ".wiki/link.md": Symlink("a.md"), ".wiki/Ü %#?.md": "x", ".wiki/sub": Submodule("a" * 40)},
        )
        tree = await self.tree(forge, repo)
        assert [(entry.path, entry.mode) for entry in tree] == [
            ("concepts/a.md", 0o100644),
            ("index.md", 0o100644),
            ("link.md", 0o120000),
            ("Ü %#?.md", 0o100644),
        ]
        assert tree[1].size == len("# Wiki\n")

    async def test_a_tree_of_many_pages_is_whole(self) -> None:
        forge = fake_forge(limits=Limits(default_git_trees_per_page=10))
        repo = forge.add_repo("acme/web", {f".wiki/p{number:03}.md": "x" for number in range(95)})
        tree = await self.tree(forge, repo)
        assert [entry.path for entry in tree] == [f"p{number:03}.md" for number in range(95)]
        assert len(forge.requests) == 1 + 10

    async def test_no_wiki_costs_no_request(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", {"README.md": "x"})
        assert await self.tree(forge, repo) == ()
        assert len(forge.requests) == 1

    async def test_a_tree_that_misses_some_of_its_entries_is_not_taken_for_whole(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES)
        answer = {"sha": "a" * 40, "tree": [], "truncated": False, "page": 1, "total_count": 3}
        forge.faults.add(Json(answer), path="*/git/trees/*", skip=1)
        with pytest.raises(Unreachable, match="it lists 0 of 3 files of acme/web"):
            await self.tree(forge, repo)

    async def test_a_tree_that_says_that_it_goes_on_and_does_not_is_told(self) -> None:
        forge = fake_forge()
        repo = forge.add_repo("acme/web", FILES)
        answer = {"sha": "a" * 40, "tree": [], "truncated": True}
        forge.faults.add(Json(answer), path="*/git/trees/*", skip=1)
        with pytest.raises(Unreachable, match="it lists 0 of more files of acme/web"):
            await self.tree(forge, repo)


async def test_a_forge_below_a_path_is_asked_there() -> None:
    forge = fake_forge()
    forge.root_url = "https://git.example.test/gitea/"
    repo = forge.add_repo("acme/web", FILES)
    forge.rename("acme/web", "acme/site")
    async with client_of(forge) as client:
        assert (await client.find("acme/web")).repo == ref_of(repo)
        assert isinstance(await client.head(ref_of(repo)), Head)
