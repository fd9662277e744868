"""The server, the caller, and listings: what a token may see."""

from __future__ import annotations

from dataclasses import asdict

from tests.fake_gitea.answers import Answer, json_answer, not_found, page_headers, page_of, paged
from tests.fake_gitea.call import Call
from tests.fake_gitea.render import label_json, organization_json, person_json, repo_json
from tests.fake_gitea.routing import Routes
from tests.fake_gitea.state import Access, Account

ROUTES = Routes()
PAGES = ("page", "limit")


@ROUTES.on("GET", "/version")
def version(call: Call) -> Answer:
    return json_answer({"version": call.forge.dialect.version})


@ROUTES.on("GET", "/settings/api")
def settings(call: Call) -> Answer:
    limits = asdict(call.forge.limits)
    if not call.forge.dialect.batches:
        del limits["default_max_response_size"]
    return json_answer(limits)


@ROUTES.on("GET", "/user", scopes=(("user",),))
def current_user(call: Call) -> Answer:
    return json_answer(person_json(call, call.me))


@ROUTES.on("GET", "/user/orgs", scopes=(("user", "organization"),), query=PAGES)
def my_organizations(call: Call) -> Answer:
    me = call.me
    mine = [org for org in call.forge.accounts.values() if any(me.key in team.members for team in org.teams)]
    return paged(call, sorted(mine, key=lambda org: org.id), lambda org: organization_json(call.forge, org))


@ROUTES.on("GET", "/user/repos", scopes=(("user",), ("repository",)), query=PAGES)
def my_repositories(call: Call) -> Answer:
    """What the caller owns, shares or reaches by a team, by bare name (capitals first)."""
    me = call.me
    mine = [repo for repo in call.forge.by_name() if call.forge.belongs(me, repo)]
    return paged(call, mine, lambda repo: repo_json(call, repo), hidden=call.forge.overcount)


@ROUTES.on("GET", "/users/{username}/repos", scopes=(("user",), ("repository",)), query=PAGES)
def repositories_of_user(call: Call) -> Answer:
    return _owned(call, call.params["username"], organization=None)


@ROUTES.on("GET", "/orgs/{org}/repos", scopes=(("organization",),), query=PAGES)
def repositories_of_organization(call: Call) -> Answer:
    return _owned(call, call.params["org"], organization=True)


def _owned(call: Call, login: str, organization: bool | None) -> Answer:
    """All of an owner's repositories by id. The total, and the page's cut, count also what the caller cannot see."""
    owner = _account(call, login, organization)
    owned = [repo for repo in call.forge.by_id() if repo.owner is owner and (call.token or not repo.private)]
    page = page_of(call)
    seen = [repo for repo in page.cut(owned) if call.access(repo) > Access.NONE]
    headers = page_headers(call, len(owned) + call.forge.overcount, page)
    return json_answer([repo_json(call, repo) for repo in seen], 200, headers)


def _account(call: Call, login: str, organization: bool | None) -> Account:
    account = call.forge.accounts.get(login.lower())
    if account is None or organization not in {None, account.organization}:
        raise not_found(call)
    return account


@ROUTES.on("GET", "/orgs/{org}/labels", scopes=(("organization",),), query=PAGES)
def labels_of_organization(call: Call) -> Answer:
    labels = sorted(_account(call, call.params["org"], organization=True).labels, key=lambda label: label.name)
    return paged(call, labels, lambda label: label_json(call.forge, label), links=False)


@ROUTES.on("GET", "/repos/search", scopes=(("repository",),), query=("q", "uid", "archived", *PAGES))
def search(call: Call) -> Answer:
    """Repositories whose name holds ``q``, by bare name."""
    words, uid, archived = call.text("q").lower(), call.number("uid"), call.text("archived")
    found = [
        repo
        for repo in call.forge.by_name()
        if call.access(repo) > Access.NONE
        and (words in repo.name.lower() or ("/" in words and words in repo.full_name.lower()))
        and (not uid or repo.owner.id == uid)
        and (not archived or repo.archived_now == call.flag("archived"))
    ]
    page = page_of(call)
    data = [repo_json(call, repo) for repo in page.cut(found)]
    return json_answer({"ok": True, "data": data}, 200, page_headers(call, len(found), page))
