"""Pull requests between branches of one repository."""

from __future__ import annotations

from tests.fake_gitea.answers import Answer, json_answer, not_found, paged, refused
from tests.fake_gitea.call import Call
from tests.fake_gitea.objects import Commit
from tests.fake_gitea.render import pull_json
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.routes_repos import READS, REPO
from tests.fake_gitea.routing import Routes
from tests.fake_gitea.state import Issue, Pull

ROUTES = Routes()


@ROUTES.on("GET", REPO + "/pulls", scopes=READS, query=("state", "base_branch", "poster", "page", "limit"))
def list_pulls(call: Call) -> Answer:
    """Pull requests, the newest first."""
    repo = call.repo()
    state, base, poster = call.text("state") or "open", call.text("base_branch"), call.text("poster").lower()
    found = [
        (issue, pull)
        for issue, pull in _pulls(repo)
        if state in {"all", issue.state} and base in {"", pull.base} and poster in {"", issue.poster.key}
    ]
    return paged(call, found, lambda one: pull_json(call, repo, *one, listed=True))


def _pulls(repo: Repo) -> list[tuple[Issue, Pull]]:
    newest = sorted(repo.issues.values(), key=lambda issue: -issue.number)
    return [(issue, issue.pull) for issue in newest if issue.pull is not None]


@ROUTES.on("GET", REPO + "/pulls/{base}/{head}", scopes=READS)
def get_pull_by_branches(call: Call) -> Answer:
    """A pull request from ``head`` to ``base``, open or not: of several the oldest, as a database finds it that is
    told of no order."""
    repo, base, head = call.repo(), call.params["base"], call.params["head"].rpartition(":")[2]
    for issue, pull in reversed(_pulls(repo)):
        if (pull.base, pull.head) == (base, head):
            return json_answer(pull_json(call, repo, issue, pull))
    raise not_found(call)


@ROUTES.on("POST", REPO + "/pulls", scopes=READS)
def create_pull(call: Call) -> Answer:
    repo, me = call.repo(), call.me
    if repo.archived_now:
        raise refused(call, 423, f"{repo.full_name} is archived")
    form = call.form()
    for key in ("head", "base", "title"):
        if not form.get(key):
            raise refused(call, 422, f"[{key.title()}]: Required")
    base, head = str(form["base"]), str(form["head"]).rpartition(":")[2]
    base_tip, head_tip = repo.tip(base), repo.tip(head)
    if base_tip is None or head_tip is None:
        raise not_found(call)
    for issue, pull in repo.open_pulls():
        if (pull.base, pull.head) == (base, head):
            raise refused(call, 409, _already(repo, issue, pull))
    fork = _merge_base(repo, base_tip, head_tip)
    if fork == head_tip.sha:
        raise refused(call, 422, "There are no changes between the head and the base")
    pull = Pull(call.forge.ids.take("pull"), base, head, fork)
    issue = repo.add_issue(str(form["title"]), str(form.get("body") or ""), poster=me.login, pull=pull)
    return json_answer(pull_json(call, repo, issue, pull), 201)


def _already(repo: Repo, issue: Issue, pull: Pull) -> str:
    return (
        f"pull request already exists for these targets [id: {pull.id}, issue_id: {issue.number}, "
        f"head_repo_id: {repo.id}, base_repo_id: {repo.id}, head_branch: {pull.head}, base_branch: {pull.base}]"
    )


def _merge_base(repo: Repo, base: Commit, head: Commit) -> str:
    """The newest commit that both have."""
    known = {commit.sha for commit in repo.objects.history(base)}
    return next((commit.sha for commit in repo.objects.history(head) if commit.sha in known), base.sha)
