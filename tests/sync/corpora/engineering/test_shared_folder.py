"""A folder that people and git change while tools read and write it, and one with very many files."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from dulwich import porcelain
from dulwich.repo import Repo

from cache.errors import KnowledgeError
from sync.corpora.engineering import folder
from tests.support.knowledge_base import knowledge_base, put, snapshot
from tests.support.repos import commit_files, make_repo

PAGE = "# Page\n\n## A\n\n{}\n\n## B\n\nend\n"


def test_git_and_people_are_seen_at_the_next_call(tmp_path: Path) -> None:
    files = {"knowledge/a/x.md": PAGE.format("first"), "knowledge/a/old.md": "# Old\n"}
    repo = make_repo(tmp_path / "repo", files)
    base = knowledge_base(repo)
    assert [topic.title for topic in base.topics()] == ["Old", "Page"]
    with Repo(repo) as git:
        first = git.head()
    commit_files(
        repo,
        {"knowledge/a/x.md": PAGE.format("second"), "knowledge/a/old.md": None, "knowledge/b/new.md": "# New\n"},
    )
    assert [topic.title for topic in base.topics()] == ["Page", "New"]
    assert base.search("first", 5) == []
    base.update("x", "A", "by a tool", mode="append", expected=None)
    assert base.search("tool", 5)[0].path == "knowledge/a/x.md"
    porcelain.reset(str(repo), "hard", first)
    assert [topic.title for topic in base.topics()] == ["Old", "Page"]
    assert base.get("x").text == PAGE.format("first")
    put(repo, {"knowledge/a/x.md": PAGE.format("by hand")})
    assert base.search("hand", 5)[0].heading == "A"


def test_tools_meet_whole_documents_while_others_are_at_work(tmp_path: Path) -> None:
    """An editor that puts whole files in place, and a checkout that takes the folder away and brings another."""
    put(tmp_path, {"knowledge/a/x.md": PAGE.format(0)})
    base = knowledge_base(tmp_path)
    knowledge = tmp_path / "knowledge"

    def others() -> None:
        for number in range(60):
            put(tmp_path, {"draft": PAGE.format(number)})
            (tmp_path / "draft").replace(knowledge / "a/x.md")
            if number % 5 == 0:
                put(tmp_path, {"fresh/x.md": PAGE.format(number)})
                (knowledge / "a").rename(tmp_path / f"away{number}")
                (tmp_path / "fresh").rename(knowledge / "a")
                shutil.rmtree(tmp_path / f"away{number}", ignore_errors=True)

    def tools(name: str) -> None:
        while working.is_alive():
            try:
                text = base.get("x").text
                whole.append(text.startswith("# Page\n\n## A\n") and text.endswith("\n\nend\n"))
                base.search("page", 5)
                base.topics()
                base.update("x", "A", name, mode="append", expected=None)
            except KnowledgeError:
                continue

    whole: list[bool] = []
    working = threading.Thread(target=others)
    threads = [threading.Thread(target=tools, args=(name,)) for name in ("one", "two")]
    working.start()
    for thread in threads:
        thread.start()
    for thread in (working, *threads):
        thread.join(60)
    assert all(whole)
    assert base.get("x").text.startswith("# Page\n\n## A\n\n")
    assert not [path for path in snapshot(knowledge) if path.endswith(".tmp")]


def test_ten_thousand_documents_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = folder.read

    def reading(root: int, path: str) -> bytes:
        read.append(path)
        return real(root, path)

    monkeypatch.setattr(folder, "read", reading)
    put(tmp_path, {f"knowledge/a{area}/n{area}.md": "" for area in range(100)})
    for number in range(100, 10_000):
        (tmp_path / f"knowledge/a{number % 100}/n{number}.md").touch()
    put(tmp_path, {"knowledge/a11/n4711.md": "# Note\n\nneedle\n"})
    base = knowledge_base(tmp_path)
    assert len(base.topics()) == len(read) == 10_000
    assert base.search("needle", 5)[0].path == "knowledge/a11/n4711.md"
    read.clear()
    put(tmp_path, {"knowledge/a11/n4711.md": "# Other\n"})
    assert base.search("needle", 5) == []
    assert base.get("other").path == "knowledge/a11/n4711.md"
    assert read == ["knowledge/a11/n4711.md"] * 2  # once to know it, once to give it
