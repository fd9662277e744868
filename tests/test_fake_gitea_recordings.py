"""The fake forge answers every recorded request as the real one did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import anyio
import httpx2
import pytest

from tests.fake_gitea import FakeGitea
from tests.fake_gitea.compare import Names
from tests.fake_gitea.recordings import Recording, load, recording_names
from tests.fake_gitea.rehearse import ALICE, PRIVATE, TOKENS, recorded_world

NOT_REPLAYED = {
    "hook-create": "webhooks are no part of the fake",
    "org-hook-create": "webhooks are no part of the fake",
    "org-hooks-list": "webhooks are no part of the fake",
    "repo-hook-delete-missing": "webhooks are no part of the fake",
    "repo-hooks-list": "webhooks are no part of the fake",
    "webhook-push": "a delivery by the forge, not an answer",
}
# What changes the forge, and what shows the change: replayed after everything else, in the order it was recorded.
WRITES = (
    "contents-multi-create",
    "contents-multi-stale-sha",
    "contents-put-update",
    "contents-create-empty-repo",
    "issue-create",
    "issue-create-with-label",
    "issue-create-unknown-label",
    "issue-create-issues-disabled",
    "issue-get",
    "issue-list-since",
    "issues-list-search",
    "contents-new-branch-on-protected",
    "contents-new-branch-exists",
    "pull-create",
    "pull-create-again",
    "pull-by-base-head",
    "pulls-list",
    "issue-create-with-organization-label",
)
# What the real forge counted, measured or touched some time later.
UNDETERMINED = re.compile(r"(^|\]|repo)\.(updated_at|size|open_pr_counter): ")


def push_a_page(forge: FakeGitea) -> None:
    """The push that a recording of a webhook's delivery tells of."""
    forge.repo(PRIVATE).commit({".wiki/concepts/hook.md": "# Hook\n"}, author=ALICE, message="add hook page")


def replayed() -> list[str]:
    return [*(name for name in recording_names() if name not in NOT_REPLAYED and name not in WRITES), *WRITES]


def test_no_recording_is_forgotten() -> None:
    assert sorted([*replayed(), *NOT_REPLAYED]) == recording_names()


@pytest.fixture(scope="module")
def differences() -> dict[str, list[str]]:
    """What differs in the answer to each recorded request, on one forge that all of them are sent to."""
    return anyio.run(_replay)


@pytest.mark.parametrize("name", replayed())
def test_the_recorded_request_is_answered_as_recorded(name: str, differences: dict[str, list[str]]) -> None:
    undetermined = UNDETERMINED if name.startswith("pull") else re.compile("(?!)")
    assert [one for one in differences[name] if not undetermined.search(one)] == []


async def _replay() -> dict[str, list[str]]:
    forge, names = recorded_world(), Names()
    found: dict[str, list[str]] = {}
    transport = httpx2.ASGITransport(app=forge.app)
    async with httpx2.AsyncClient(transport=transport, base_url="https://git.example.test") as client:
        for name in replayed():
            if name == "contents-put-update":
                push_a_page(forge)
            recording = load(name)
            _set_clock(forge, recording)
            response = await _send(client, recording, names)
            found[name] = list(_differences(recording, response, names))
    return found


async def _send(client: httpx2.AsyncClient, recording: Recording, names: Names) -> httpx2.Response:
    headers = {name: names.translate(value) for name, value in recording.sent_headers.items()}
    if recording.caller is not None:
        headers["Authorization"] = f"token {TOKENS[recording.caller]}"
    target, sent = names.translate(recording.target), recording.sent
    return await client.request(recording.method, target, headers=headers, json=sent)


def _set_clock(forge: FakeGitea, recording: Recording) -> None:
    """Let what the request makes be made when it was: a second after the clock's time."""
    if recording.method == "POST" and isinstance(recording.json, dict) and "created_at" in recording.json:
        forge.clock.now = datetime.fromisoformat(recording.json["created_at"]) - timedelta(seconds=1)


def _differences(recording: Recording, response: httpx2.Response, names: Names) -> Iterator[str]:
    if response.status_code != recording.status:
        yield f": status {recording.status}, not {response.status_code}: {response.text}"
        return
    for header, value in recording.headers.items():
        told = response.headers.get(header, "").encode(response.headers.encoding).decode()
        if header == "content-length" and recording.json is not None:
            if not told:  # its number depends on the host's name
                yield f" header {header}: missing"
        elif not names.same_text(value, told):
            yield f" header {header}: {value!r}, not {told!r}"
    if "content-length" not in recording.headers and "content-length" in response.headers:
        yield " header content-length: there, though sent in chunks"
    if recording.json is not None:
        yield from names.differences(recording.json, response.json())
    elif recording.raw is not None and response.content != recording.raw:
        yield f": body {recording.raw!r}, not {response.content!r}"
    elif recording.raw is None and len(response.content) != int(recording.headers["content-length"]):
        yield ": another length"
