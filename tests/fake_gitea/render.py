"""Accounts, repositories, labels, issues and pull requests as the API shows them."""

from __future__ import annotations

import difflib
import hashlib
from typing import TYPE_CHECKING

from tests.fake_gitea.answers import Json
from tests.fake_gitea.objects import Entry
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.state import LONG_AGO, Access, Account, Issue, Label, Pull, rfc3339

if TYPE_CHECKING:
    from tests.fake_gitea.call import Call
    from tests.fake_gitea.forge import FakeGitea

NEVER = "0001-01-01T00:00:00Z"  # how Go writes a time that was not set


def account_json(forge: FakeGitea, account: Account, *, known: bool = True, trusted: bool = False) -> Json:
    """An account. ``known``: to somebody who may know its address; ``trusted``: to itself or an administrator."""
    hidden = f"{account.key}@noreply.{forge.root_url.split('/')[2]}"
    return {
        "id": account.id,
        "login": account.login,
        "login_name": "",
        "source_id": 0,
        "full_name": account.full_name,
        "email": account.email if known else hidden,
        "avatar_url": _avatar(forge, account),
        "html_url": forge.root_url + account.login,
        "language": "",
        "is_admin": account.admin and trusted,
        "last_login": rfc3339(LONG_AGO) if trusted else NEVER,
        "created": rfc3339(account.created),
        "restricted": False,
        "active": trusted,
        "prohibit_login": False,
        "location": "",
        "website": "",
        "description": "",
        "visibility": "public",
        "followers_count": 0,
        "following_count": 0,
        "starred_repos_count": 0,
        "username": account.login,
    }


def _avatar(forge: FakeGitea, account: Account) -> str:
    seed = (account.email or account.key).encode()
    return f"{forge.root_url}avatars/{hashlib.md5(seed, usedforsecurity=False).hexdigest()}"


def person_json(call: Call, account: Account) -> Json:
    """An account as the caller may see it."""
    viewer = call.viewer
    trusted = viewer is not None and (viewer is account or viewer.admin)
    return account_json(call.forge, account, known=viewer is not None, trusted=trusted)


def organization_json(forge: FakeGitea, account: Account) -> Json:
    return {
        "id": account.id,
        "name": account.login,
        "full_name": account.full_name,
        "email": account.email,
        "avatar_url": _avatar(forge, account),
        "description": "",
        "website": "",
        "location": "",
        "visibility": "public",
        "repo_admin_change_team_access": False,
        "username": account.login,
    }


def repo_json(call: Call, repo: Repo, *, inside: bool = False) -> Json:
    """A repository with what the caller may do in it. ``inside`` something else its language is left out."""
    forge, mode = call.forge, call.access(repo)
    html, name = forge.root_url + repo.full_name, repo.full_name
    own = repo.parent is None  # a fork starts without issues, wiki, projects, releases and packages
    issues = own and repo.has_issues
    shown: Json = {
        "id": repo.id,
        "owner": account_json(forge, repo.owner),
        "name": repo.name,
        "full_name": name,
        "description": "",
        "empty": repo.empty,
        "private": repo.private,
        "fork": not own,
        "template": False,
    }
    if repo.parent is not None:
        shown["parent"] = repo_json(call, repo.parent, inside=True)
    shown |= {
        "mirror": False,
        "size": repo.size,
        "language": "" if inside else repo.language,
        "languages_url": f"{forge.api_url}/repos/{name}/languages",
        "html_url": html,
        "url": f"{forge.api_url}/repos/{name}",
        "link": "",
        "ssh_url": f"git@{forge.root_url.split('/')[2]}:{name}.git",
        "clone_url": html + ".git",
        "original_url": "",
        "website": "",
        "stars_count": 0,
        "forks_count": repo.forks,
        "watchers_count": 1,
        "open_issues_count": sum(i.pull is None and i.closed is None for i in repo.issues.values()),
        "open_pr_counter": len(repo.open_pulls()),
        "release_counter": 0,
        "default_branch": repo.default_branch,
        "archived": repo.archived_now,
        "created_at": rfc3339(repo.created),
        "updated_at": rfc3339(repo.updated),
        "archived_at": rfc3339(repo.archived or LONG_AGO),
        "permissions": {
            "admin": mode >= Access.ADMIN,
            "push": mode >= Access.WRITE,
            "pull": mode >= Access.READ,
        },
        "has_code": False,
        "has_issues": issues,
    }
    if issues:
        shown["internal_tracker"] = {
            "enable_time_tracker": True,
            "allow_only_contributors_to_track_time": True,
            "enable_issue_dependencies": True,
        }
    return shown | _settings(own)


def _settings(own: bool) -> Json:
    return {
        "has_wiki": own,
        "has_pull_requests": True,
        "has_projects": own,
        "projects_mode": "all",
        "has_releases": own,
        "has_packages": own,
        "has_actions": False,
        "ignore_whitespace_conflicts": False,
        "allow_merge_commits": True,
        "allow_rebase": True,
        "allow_rebase_explicit": True,
        "allow_squash_merge": True,
        "allow_fast_forward_only_merge": True,
        "allow_rebase_update": True,
        "allow_manual_merge": False,
        "autodetect_manual_merge": False,
        "default_delete_branch_after_merge": False,
        "default_merge_style": "merge",
        "default_allow_maintainer_edit": False,
        "avatar_url": "",
        "internal": False,
        "mirror_interval": "",
        "object_format_name": "sha1",
        "mirror_updated": NEVER,
        "topics": [],
        "licenses": [],
    }


def label_json(forge: FakeGitea, label: Label, repo: Repo | None = None) -> Json:
    home = f"orgs/{label.org}" if label.org or repo is None else f"repos/{repo.full_name}"
    return {
        "id": label.id,
        "name": label.name,
        "exclusive": False,
        "is_archived": False,
        "color": label.color,
        "description": label.description,
        "url": f"{forge.api_url}/{home}/labels/{label.id}",
    }


def issue_json(call: Call, repo: Repo, issue: Issue) -> Json:
    forge = call.forge
    kind = "issues" if issue.pull is None else "pulls"
    return {
        "id": issue.id,
        "url": f"{forge.api_url}/repos/{repo.full_name}/issues/{issue.number}",
        "html_url": f"{forge.root_url}{repo.full_name}/{kind}/{issue.number}",
        "number": issue.number,
        "user": person_json(call, issue.poster),
        "original_author": "",
        "original_author_id": 0,
        "title": issue.title,
        "body": issue.body,
        "ref": "",
        "assets": [],
        "labels": [label_json(forge, label, repo) for label in issue.labels],
        "milestone": None,
        "assignee": None,
        "assignees": None,
        "state": issue.state,
        "is_locked": False,
        "comments": 0,
        "created_at": rfc3339(issue.created),
        "updated_at": rfc3339(issue.updated),
        "closed_at": rfc3339(issue.closed),
        "due_date": None,
        "time_estimate": 0,
        "pull_request": None if issue.pull is None else _pull_of_issue(forge, repo, issue, issue.pull),
        "repository": {"id": repo.id, "name": repo.name, "owner": repo.owner.login, "full_name": repo.full_name},
        "pin_order": 0,
    }


def _pull_of_issue(forge: FakeGitea, repo: Repo, issue: Issue, pull: Pull) -> Json:
    url = f"{forge.root_url}{repo.full_name}/pulls/{issue.number}"
    merged_at = rfc3339(issue.closed) if pull.merged else None
    return {"merged": pull.merged, "merged_at": merged_at, "draft": False, "html_url": url}


def pull_json(call: Call, repo: Repo, issue: Issue, pull: Pull, *, listed: bool = False) -> Json:
    """A pull request; a list leaves out what changed, and has no lists of people but null."""
    html = f"{call.forge.root_url}{repo.full_name}/pulls/{issue.number}"
    nobody: list[object] | None = None if listed else []
    return {
        "id": pull.id,
        "url": html,
        "number": issue.number,
        "user": person_json(call, issue.poster),
        "title": issue.title,
        "body": issue.body,
        "labels": [label_json(call.forge, label, repo) for label in issue.labels],
        "milestone": None,
        "assignee": None,
        "assignees": nobody,
        "requested_reviewers": nobody,
        "requested_reviewers_teams": nobody,
        "state": issue.state,
        "draft": False,
        "is_locked": False,
        "comments": 0,
        "review_comments": 0,
        **({} if listed else _changed(repo, pull)),
        "html_url": html,
        "diff_url": html + ".diff",
        "patch_url": html + ".patch",
        "mergeable": not pull.merged,
        "merged": pull.merged,
        "merged_at": rfc3339(issue.closed) if pull.merged else None,
        "merge_commit_sha": repo.branches.get(pull.base) if pull.merged else None,
        "merged_by": None,
        "allow_maintainer_edit": False,
        "base": _side(call, repo, pull.base),
        "head": _side(call, repo, pull.head),
        "merge_base": pull.base_sha,
        "due_date": None,
        "created_at": rfc3339(issue.created),
        "updated_at": rfc3339(issue.updated),
        "closed_at": rfc3339(issue.closed),
        "pin_order": 0,
    }


def _side(call: Call, repo: Repo, branch: str) -> Json:
    shown = repo_json(call, repo, inside=True)
    return {"label": branch, "ref": branch, "sha": repo.branches.get(branch, ""), "repo_id": repo.id, "repo": shown}


def _lines(repo: Repo, entry: Entry | None) -> list[bytes]:
    return [] if entry is None else repo.objects.blobs[entry.sha].data.splitlines()


def _changed(repo: Repo, pull: Pull) -> Json:
    before, after = repo.objects.commits[pull.base_sha].snapshot.files, repo.tip(pull.head)
    now = {} if after is None else after.snapshot.files
    changed = [path for path in {*before, *now} if before.get(path) != now.get(path)]
    added = removed = 0
    for path in changed:
        old, new = _lines(repo, before.get(path)), _lines(repo, now.get(path))
        same = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        kept = sum(block.size for block in same)
        added, removed = added + len(new) - kept, removed + len(old) - kept
    return {"additions": added, "deletions": removed, "changed_files": len(changed)}
