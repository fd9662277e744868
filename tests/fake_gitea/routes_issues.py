"""Issues and a repository's labels."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tests.fake_gitea.answers import Answer, json_answer, not_found, paged, refused
from tests.fake_gitea.call import Call
from tests.fake_gitea.render import issue_json, label_json
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.routes_repos import REPO
from tests.fake_gitea.routing import Routes
from tests.fake_gitea.state import Access, Issue, Label

ROUTES = Routes()
ISSUES = (("issue",),)
FILTERS = ("state", "labels", "q", "type", "since", "before", "created_by", "page", "limit")


@ROUTES.on("GET", REPO + "/labels", scopes=ISSUES, query=("page", "limit"))
def list_labels(call: Call) -> Answer:
    """The repository's own labels; its organization's are a list of their own."""
    repo = call.repo()
    labels = sorted(repo.labels, key=lambda label: label.name)
    return paged(call, labels, lambda label: label_json(call.forge, label, repo), links=False)


@ROUTES.on("GET", REPO + "/issues", scopes=ISSUES, query=FILTERS)
def list_issues(call: Call) -> Answer:
    """Issues and pull requests that fit every filter, the newest first."""
    repo = call.repo()
    wanted = _filters(call)
    newest = sorted(repo.issues.values(), key=lambda issue: (issue.created, issue.number), reverse=True)
    found = [issue for issue in newest if all(fits(issue) for fits in wanted)]
    return paged(call, found, lambda issue: issue_json(call, repo, issue))


def _filters(call: Call) -> list[Callable[[Issue], bool]]:
    state, words, kind = call.text("state") or "open", call.text("q").lower(), call.text("type")
    since, before = _moment(call, "since"), _moment(call, "before")
    author, labels = call.text("created_by").lower(), set(filter(None, call.text("labels").split(",")))
    wanted: list[tuple[bool, Callable[[Issue], bool]]] = [
        (state != "all", lambda issue: issue.state == state),
        (kind in {"issues", "pulls"}, lambda issue: (issue.pull is None) == (kind == "issues")),
        (bool(words), lambda issue: words in f"{issue.title}\n{issue.body}".lower()),
        (since is not None, lambda issue: since is None or issue.updated >= since),
        (before is not None, lambda issue: before is None or issue.updated <= before),
        (bool(author), lambda issue: issue.poster.key == author),
        (bool(labels), lambda issue: bool(labels & {label.name for label in issue.labels})),
    ]
    return [fits for asked, fits in wanted if asked]


def _moment(call: Call, name: str) -> datetime | None:
    text = call.text(name)
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        moment = None
    if text and (moment is None or moment.tzinfo is None):
        raise refused(call, 422, f"parsing time {text!r} as RFC 3339 failed")
    return moment


@ROUTES.on("GET", REPO + "/issues/{index}", scopes=ISSUES)
def get_issue(call: Call) -> Answer:
    repo, index = call.repo(), call.params["index"]
    issue = repo.issues.get(int(index)) if index.isascii() and index.isdigit() else None
    if issue is None:
        raise not_found(call)
    return json_answer(issue_json(call, repo, issue))


@ROUTES.on("POST", REPO + "/issues", scopes=ISSUES)
def create_issue(call: Call) -> Answer:
    """File an issue. Label ids that do not exist are ignored, and all of them from somebody who cannot write."""
    repo, me = call.repo(), call.me
    if repo.archived_now:
        raise refused(call, 423, f"{repo.full_name} is archived")
    form = call.form()
    title, body, ids = form.get("title"), form.get("body"), form.get("labels")
    if not isinstance(title, str) or not title:
        raise refused(call, 422, "[Title]: Required")
    if not repo.has_issues and call.access(repo) < Access.ADMIN:
        message = "user should have specific read permission or be a repo admin or a site admin"
        raise refused(call, 403, message)
    writer = call.access(repo) >= Access.WRITE
    labels = [label for label in known_labels(repo) if isinstance(ids, list) and label.id in ids] if writer else []
    text = body if isinstance(body, str) else ""
    issue = repo.add_issue(title, text, poster=me.login, labels=labels)
    return json_answer(issue_json(call, repo, issue), 201)


def known_labels(repo: Repo) -> list[Label]:
    """What an issue of ``repo`` can bear."""
    return [*repo.labels, *repo.owner.labels]
