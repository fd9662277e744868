"""``gateway import``: what it says of what it copied and what it left out."""

from __future__ import annotations

from tests.support.cli import Home, Inside, Outcome
from tests.support.knowledge_base import put, snapshot


def test_it_copies_and_tells_what_it_left_out(home: Home, run: Inside) -> None:
    put(home.path, {"notes/api/x.md": "words\n", "notes/y.md": "# Y\n", "notes/p.png": ""})
    (home.path / "kb").mkdir()
    home.configure('[engineering]\nroot = "~/kb"\n')
    left_out = "left out p.png: no .md file\n"
    would = run("import", "notes", "--dry-run")
    assert would == Outcome(
        0,
        "api/x.md → knowledge/api/x.md (with a title)\ny.md → knowledge/general/y.md\n"
        "2 notes would be copied, 1 of them with a title added; 1 left out\n",
        left_out,
    )
    assert snapshot(home.path / "kb") == {}
    done = run("import", "notes")
    assert done == Outcome(0, "2 notes copied, 1 of them with a title added; 1 left out\n", left_out)
    assert snapshot(home.path / "kb") == {
        "knowledge/api/x.md": b'---\ntitle: "X"\n---\n\nwords\n',
        "knowledge/general/y.md": b"# Y\n",
    }


def test_it_needs_a_folder_to_copy_into(home: Home, run: Inside) -> None:
    (home.path / "notes").mkdir()
    shown = run("import", "notes")
    assert (shown.code, shown.out) == (3, "")
    assert shown.err == "gateway: no knowledge folder — set [engineering] root, or name one with --root\n"
    assert run("import", "nowhere", "--root", "notes").code == 2
    assert run("import", "notes", "--root", "nowhere").code == 2


def test_an_area_that_leads_elsewhere_is_refused(home: Home, run: Inside) -> None:
    put(home.path, {"notes/x.md": "# X\n", "kb/.keep": ""})
    shown = run("import", "notes", "--root", "kb", "--area", "../x")
    assert shown.code == 2
    assert shown.err.startswith("gateway: area: ")
    assert list(snapshot(home.path / "kb")) == [".keep"]
