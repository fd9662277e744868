"""What keeps a Gitea or Forgejo server from being used, and how to mend each thing. Pure: a survey is passed in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from cache.errors import Denied, KnowledgeError, NotConfigured, TimedOut
from cache.model import Listed as Repository
from gateway.doctor import TOKENS, Finding, State
from gateway.settings import ONLY_FORGE
from sync.exchange import Trouble, Unreachable
from sync.forge.base import Head
from sync.forge.gitea.about import Survey
from sync.forge.gitea.failures import NoRoute, ScopeMissing

SKEW: Final = 5.0  # seconds that two clocks may differ
NEAR: Final = 0.1  # of a limit: what is left is little

REMEDIES: Final[Mapping[Trouble, str]] = {
    Trouble.DNS: "correct the host name in {where} url, or see this machine's name servers",
    Trouble.CONNECT: "see that it runs, and that {where} url has the right host and port",
    Trouble.TLS: "see that {where} url has the right port; http:// is for a server without TLS",
    Trouble.UNTRUSTED: "put the certificate of its authority (PEM) into a file, and its path into {where} ca_file",
    Trouble.EXPIRED: "have the certificate renewed; if it is valid, set this machine's clock",
    Trouble.MISNAMED: "write the name that the certificate is for into {where} url",
    Trouble.PROXY: "correct HTTPS_PROXY or HTTP_PROXY, or add the host to NO_PROXY",
    Trouble.LOST: "try again; if it stays so, see the forge's log and that of the proxy before it",
    Trouble.GARBLED: "see that {where} url has the right port",
    Trouble.BUSY: "wait; then sync less often, or lower {where} max_in_flight",
    Trouble.WRONG: "correct {where} url: /api/v1/version below it has to show a version to everybody",
}
SWITCHED_OFF: Final = "correct {where} url; where it is right, the API is switched off there: have it switched on"

NEEDED: Final[Mapping[str, str]] = {
    "read:user": "nothing can be listed",
    "read:repository": "no repository can be read",
    "read:organization": "organizations, [sync] orgs, cannot be listed",
}
WANTED: Final[Mapping[str, str]] = {
    "write:repository": "pages cannot be written",
    "write:issue": "tasks cannot be filed as issues",
}


def of_survey(name: str, survey: Survey, *, writes: bool) -> Iterator[Finding]:
    """What a survey of the forge called ``name`` found; ``writes``: tools that write are served."""
    where = section(name)
    if isinstance(survey.server, KnowledgeError):
        yield unreached(name, survey.server, survey.better_url)
        return
    yield Finding(State.OK, f"forge {name}: {survey.server.title} at {survey.url}")
    if survey.login is not None and _is_open(survey.url):
        yield Finding(State.WARN, f"forge {name}: the token travels unencrypted", f"write https:// in {where} url")
    if isinstance(survey.login, KnowledgeError) and not isinstance(survey.login, ScopeMissing):
        yield _no_token(name, survey, survey.login)
    else:
        yield from _scopes(name, survey, writes=writes)
        yield from _listings(name, survey)
    yield from _surroundings(name, survey)


def section(name: str) -> str:
    """How the configuration calls the forge called ``name``."""
    return "[forge]" if name == ONLY_FORGE else f"[forges.{name}]"


def shared_wiki(word: str, found: Repository | KnowledgeError, head: Head | None) -> Finding:
    """Whether ``word``, [wiki] shared, means a project with a wiki on the forge; ``head`` is its tip, ``None`` where it
    is empty."""
    what = f"shared wiki {word}"
    if isinstance(found, KnowledgeError):
        return Finding(State.FAIL, f"{what}: {_said(found)}", "correct [wiki] shared, or give the token's user access")
    if head is None or head.wiki_tree is None:
        why = "it is empty" if head is None else "it has no .wiki/"
        return Finding(State.FAIL, f"{what}: {why}", "add .wiki/index.md to it, or correct [wiki] shared")
    name = found.repo.name
    if name.casefold() != word.casefold():
        return Finding(State.WARN, f"{what}: it is called {name} now", f'write shared = "{name}"')
    return Finding(State.OK, f"{what}: it has .wiki/")


def unreached(name: str, error: KnowledgeError, better_url: str | None = None) -> Finding:
    """Why no forge answers, and at ``better_url`` one does where that is known."""
    where = section(name)
    match error:
        case Unreachable(trouble=Trouble.WRONG) if better_url is not None:
            remedy = f'write url = "{better_url}" in {where}: a forge answers there'
        case NoRoute(lasting=True):
            remedy = SWITCHED_OFF.format(where=where)
        case Unreachable(trouble=trouble):
            remedy = REMEDIES[trouble].format(where=where)
        case TimedOut():
            remedy = "see that it is not overloaded, and that no firewall swallows the answers"
        case Denied():
            remedy = "have /api/v1 let through: something before the forge keeps it back"
        case NotConfigured():
            remedy = f"correct {where}, or the environment's proxy or certificates"
        case _:
            remedy = "see the forge's log"
    return Finding(State.FAIL, f"forge {name}: {_said(error)}", remedy)


def _no_token(name: str, survey: Survey, error: KnowledgeError) -> Finding:
    where = section(name)
    if isinstance(error, Denied) and not error.host:
        remedy = f"correct {where} {error.message.partition(' ')[0]}"  # the words begin with the key
    elif isinstance(error, Denied):
        remedy = f"make a new one at {survey.url}{TOKENS} and put it where {where} takes it from"
    else:
        return unreached(name, error)
    return Finding(State.FAIL, f"forge {name}: {_said(error)}", remedy)


def _scopes(name: str, survey: Survey, *, writes: bool) -> Iterator[Finding]:
    """The user, and each scope that is missing with what stops working without it."""
    has = [scope for scope, there in survey.scopes.items() if there]
    if isinstance(survey.login, str):
        scopes = f"; it has {', '.join(has)}" if has else ""
        yield Finding(State.OK, f"forge {name}: the token is {survey.login}'s{scopes}")
    for scope, there in survey.scopes.items():
        if there:
            continue
        state = State.FAIL if scope not in WANTED else State.WARN if writes else State.NOTE
        without = NEEDED.get(scope) or WANTED.get(scope) or "something is refused"
        remedy = "" if state is State.NOTE else f"make a token that has it too at {survey.url}{TOKENS}"
        yield Finding(state, f"forge {name}: the token lacks {scope}: {without}", remedy)


def _listings(name: str, survey: Survey) -> Iterator[Finding]:
    where = section(name)
    errors = [(each.of, each.found) for each in survey.listings if isinstance(each.found, KnowledgeError)]
    if survey.login is None and any(isinstance(error, Denied) for _, error in errors):
        remedy = f"make one at {survey.url}{TOKENS} with read:user and read:repository, and set {where} token_file"
        yield Finding(State.FAIL, f"forge {name}: there is no token, and nothing is listed without one", remedy)
        return
    if survey.login is None:
        yield Finding(State.NOTE, f"forge {name}: there is no token, so only what is public is seen")
    for of, error in errors:
        if not isinstance(error, ScopeMissing):  # that is told of the token
            remedy = f"correct {where} user or [sync] orgs" if of else "see the forge's log"
            yield Finding(State.FAIL, f"forge {name}: cannot be listed: {_said(error)}", remedy)
    found = sum(each.found for each in survey.listings if isinstance(each.found, int))
    if found:
        yield Finding(State.OK, f"forge {name}: {found} repositories")
    elif not errors:
        remedy = f"give the token's user access to some, or correct {where} user"
        yield Finding(State.WARN, f"forge {name}: no repository is listed", remedy)


def _surroundings(name: str, survey: Survey) -> Iterator[Finding]:
    """The clock, the limits, and what the version cannot do."""
    if survey.skew is not None and abs(survey.skew) > SKEW:
        ahead, why = ("behind", "what changed lately is read again and again")
        if survey.skew < 0:
            ahead, why = ("ahead of", "its times of syncs do not fit those of changes")
        text = f"forge {name}: this machine's clock is {abs(survey.skew):.0f} s {ahead} the forge's: {why}"
        yield Finding(State.WARN, text, "set the one that is wrong by a time server (NTP)")
    if survey.quota is not None and survey.quota.remaining <= survey.quota.limit * NEAR:
        text = f"forge {name}: only {survey.quota.remaining} of {survey.quota.limit} requests are left for now"
        yield Finding(State.WARN, text, REMEDIES[Trouble.BUSY].format(where=section(name)))
    if survey.batches is False:
        yield Finding(State.NOTE, f"forge {name}: it reads files one by one; Gitea 1.24 or newer reads many at once")


def _is_open(url: str) -> bool:
    """Whether others can read what is sent there."""
    host = urlsplit(url).hostname or ""
    return url.startswith("http:") and not (host in ("localhost", "::1") or host.startswith("127."))


def _said(error: KnowledgeError) -> str:
    """An error's words without its advice: the remedy is told apart."""
    return error.message.partition(" — ")[0]
