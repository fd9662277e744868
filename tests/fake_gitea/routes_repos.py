"""One repository: itself, its branches and commits, and who may do what in it."""

from __future__ import annotations

from tests.fake_gitea.answers import Answer, Page, json_answer, not_found, page_headers, page_of, paged, refused
from tests.fake_gitea.call import Call
from tests.fake_gitea.render import person_json, repo_json
from tests.fake_gitea.render_git import branch_json, commit_json
from tests.fake_gitea.routing import Routes
from tests.fake_gitea.state import Access

ROUTES = Routes()
REPO = "/repos/{owner}/{repo}"
READS = (("repository",),)
HISTORY_PAGE = 50  # commits of a path's history on a page, whatever limit says
ONLY_OWN = (
    "Only admins can query all permissions, repo admins can query all repo permissions, "
    "collaborators can query only their own"
)


@ROUTES.on("GET", REPO, scopes=READS)
def get_repository(call: Call) -> Answer:
    return json_answer(repo_json(call, call.repo()))


@ROUTES.on("GET", REPO + "/branches", scopes=READS, query=("page", "limit"))
def list_branches(call: Call) -> Answer:
    repo = call.repo()
    return paged(call, sorted(repo.branches), lambda name: branch_json(call.forge, repo, name, call.viewer))


@ROUTES.on("GET", REPO + "/branches/{branch}", scopes=READS)
def get_branch(call: Call) -> Answer:
    repo, name = call.repo(), call.params["branch"]
    if name not in repo.branches:
        raise not_found(call, None, [f"branch does not exist [repo_id: {repo.id} name: {name}]"])
    return json_answer(branch_json(call.forge, repo, name, call.viewer))


@ROUTES.on(
    "GET", REPO + "/commits", scopes=READS, query=("sha", "path", "stat", "verification", "files", "page", "limit")
)
def list_commits(call: Call) -> Answer:
    """A branch's commits, or with ``path`` those that changed it, the newest first."""
    repo, path = call.repo(), call.text("path").strip("/")
    if repo.empty:
        raise refused(call, 409, "Git Repository is empty.")
    tip = call.commit(repo, call.text("sha"))
    commits = list(repo.objects.touching(tip, path) if path else repo.objects.history(tip))
    if not commits:
        raise not_found(call, "FileCommitsCount")
    page = page_of(call)
    page = Page(page.number, HISTORY_PAGE) if path else page
    wanted = {name: call.flag(name, default=True) for name in ("stat", "verification", "files")}
    shown = [commit_json(call.forge, repo, commit, wanted) for commit in page.cut(commits)]
    return json_answer(shown, 200, page_headers(call, len(commits), page))


@ROUTES.on("GET", REPO + "/collaborators/{collaborator}/permission", scopes=READS)
def permission_of(call: Call) -> Answer:
    """What somebody may do, for themselves and for administrators to know."""
    repo, me, login = call.repo(), call.me, call.params["collaborator"]
    if not me.admin and me.key != login.lower() and call.access(repo) < Access.ADMIN:
        raise refused(call, 403, ONLY_OWN)
    account = call.forge.accounts.get(login.lower())
    if account is None:
        raise not_found(call)
    word = call.forge.access(account, repo).name.lower()
    return json_answer({"permission": word, "role_name": word, "user": person_json(call, account)})
