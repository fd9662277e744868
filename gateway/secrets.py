"""Secrets in a text that is to be written where many read it: private keys and tokens of well-known shapes. Pure.

Each shape is looked for by words that it cannot be without, and compared at these places only; what is compared there
is bounded, or ends where the next place begins. So time is linear in the text, whatever it is. A hash or a commit's
name alone is no secret, nor is what nobody could take for one: an example of some documentation, ``<token>``, ``xxxx``.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final

from cache.errors import Denied

MAX_FOUND: Final = 20  # findings of one text; more tell nobody more
SHOWN: Final = 3  # findings that a refusal names

# What a token is, the words that it begins with, and what follows each of them.
_TOKENS: Final = (
    ("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36}"),
    ("a GitHub token", "github_pat_", "[A-Za-z0-9_]{40}"),
    ("a GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat-", "[A-Za-z0-9_-]{20}"),
    ("a Slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", "[A-Za-z0-9-]{20}"),
    ("a Slack webhook", "hooks.slack.com/services/", "T[A-Za-z0-9_]{6,12}/B[A-Za-z0-9_]{6,12}/[A-Za-z0-9]{20}"),
    ("a Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", "[0-9]{16,20}/[A-Za-z0-9_-]{60}"),
    ("an AWS access key", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("a Google API key", "AIza", "[A-Za-z0-9_-]{35}"),
    ("a Google client secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
    ("a Google access token", "ya29.", "[A-Za-z0-9_-]{30}"),
    ("a Stripe key", "sk_live_ rk_live_ whsec_", "[A-Za-z0-9]{20}"),
    ("an npm token", "npm_", "[A-Za-z0-9]{36}"),
    ("a PyPI token", "pypi-AgE", "[A-Za-z0-9_-]{40}"),
    ("a RubyGems key", "rubygems_", "[0-9a-f]{48}"),
    ("an Anthropic API key", "sk-ant-", "[A-Za-z0-9_-]{32}"),
    ("an OpenAI API key", "sk-proj- sk-svcacct- sk-admin-", "[A-Za-z0-9_-]{40}"),
    ("an OpenRouter API key", "sk-or-v1-", "[0-9a-f]{64}"),
    ("an API key", "sk-", "[A-Za-z0-9]{32}"),
    ("a Hugging Face token", "hf_", "[A-Za-z0-9]{34}(?![A-Za-z0-9_])"),
    ("a Groq API key", "gsk_", "[A-Za-z0-9]{52}"),
    ("an xAI API key", "xai-", "[A-Za-z0-9]{60}"),
    ("a Replicate token", "r8_", "[A-Za-z0-9]{37}(?![A-Za-z0-9_])"),
    ("a SendGrid API key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
    ("a Docker token", "dckr_pat_", "[A-Za-z0-9_-]{27}"),
    ("a Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    ("a Databricks token", "dapi", "[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("a Grafana token", "glsa_", "[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("a Vault token", "hvs. hvb. hvr.", "[A-Za-z0-9_-]{24}"),
    ("an Atlassian token", "ATATT3", "[A-Za-z0-9_=-]{60}"),
    ("a Linear API key", "lin_api_", "[A-Za-z0-9]{40}"),
    ("a Notion token", "ntn_", "[A-Za-z0-9]{40}"),
    ("a Figma token", "figd_", "[A-Za-z0-9_-]{40}"),
    ("a New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    ("a Postman API key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    ("a Supabase token", "sbp_", "[0-9a-f]{40}"),
    ("a Sentry token", "sntryu_ sntrys_", "[A-Za-z0-9_=+/]{40}"),
    ("a Tailscale key", "tskey-", "(?:api|auth|client)-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20}"),
    ("a private key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
)

# The same, where anything may stand before the word, or the beginning of the token does.
_ANYWHERE: Final = (
    ("an Azure storage key", "AccountKey=", "[A-Za-z0-9+/]{86}=="),
    ("an Azure access key", "SharedAccessKey=", "[A-Za-z0-9+/]{43}="),
    ("a private key", "Private-Lines:", r"\s{0,3}[0-9]{1,3}\s{1,3}([A-Za-z0-9+/]{40})"),  # PuTTY's
    ("a Telegram bot token", ":AA", r"(?<=[0-9]{8}:AA)[A-Za-z0-9_-]{32}"),
    ("an Azure client secret", "Q~", r"(?<=[A-Za-z0-9_~.]{3}[0-9]Q~)[A-Za-z0-9_~.-]{31}"),
    ("a JSON web token", ".eyJ", r"(?<=[A-Za-z0-9_-]{16}\.eyJ)[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16}"),
)

# What is a secret because of the word before it, in whatever case that is.
_IS: Final = r"[\"'`]?\]?\s{0,3}(?:=>|:=|[:=])\s{0,3}[\"'`]?"
_NAMED: Final = (
    ("an access token", "token", rf"(?:{_IS}|(?<=-token)\s)([0-9a-f]{{40}})(?![0-9A-Za-z])"),
    ("an AWS secret key", "secret", rf"(?i:[_ ]?access)?(?i:[_ ]?key){_IS}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])"),
    (
        "an access token",
        "authorization",
        rf"{_IS}(?i:bearer|token)\s{{1,3}}(?=[A-Za-z._~+/=-]{{0,199}}[0-9])([A-Za-z0-9._~+/=-]{{20,200}})",
    ),
)

_LOGIN = re.compile(rb"([^\s/:@?#]{0,100}+):([^\s/@?#\"'<>`]{4,200}+)@([A-Za-z0-9.-]{1,253})")
_BASIC = re.compile(_IS.encode() + rb"(?i:basic)\s{1,3}([A-Za-z0-9+/]{8,200})")
_PEM = re.compile(rb"(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_END = b"----"
_PEM_BEGINNING = 2000  # bytes in which the key itself begins
_BASE64_PEM = b"LS0tLS1CRUdJTi"  # -----BEGIN
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{30,58}")
_KEY_LINE = re.compile(rb"[A-Za-z0-9+/]{40}")

_EXAMPLE_WORDS: Final = tuple(
    b"example placeholder dummy fake sample redacted your xxxx token secret passw test changeme abcdef 123456".split()
)
_EXAMPLE_SUBJECT: Final = b"zdWIiOiIxMjM0NTY3ODkwI"  # the subject 1234567890 of every JSON web token in documentation
_EXAMPLE_PASSWORDS: Final = frozenset((*b"admin guest pass postgres root user".split(), b"open sesame"))
_VARIABLE = re.compile(rb"[$*\[({]|%[(s]|.*%\Z")
_EXAMPLE_HOST = re.compile(rb"(?i)(?:.*\.)?(?:localhost|127\.0\.0\.1|example(?:\.(?:com|net|org))?|test|invalid)\.?")
_COMPARED = 200  # bytes of a secret that are compared with examples


@dataclass(frozen=True, slots=True)
class Finding:
    """What looks like a secret, such as ``"a GitHub token"``, and in which ``line`` (from 1). Never the secret."""

    line: int
    kind: str


def find_secrets(text: str) -> tuple[Finding, ...]:
    """What looks like a secret in ``text``, by line, one in each; at most ``MAX_FOUND``."""
    data = text.encode("utf-8", "surrogatepass")
    lines: dict[int, str] = {}
    for at, kind in islice(_places(data), MAX_FOUND):
        lines.setdefault(data.count(b"\n", 0, at) + 1, kind)
    return tuple(Finding(*found) for found in sorted(lines.items()))


def refuse_secrets(texts: Mapping[str, str]) -> None:
    """Raise ``Denied`` if one of ``texts``, by the names of the arguments they came as, holds what looks like a
    secret."""
    for name, text in texts.items():
        found = find_secrets(text)
        if found:
            first, *others = (f"line {finding.line} looks like {finding.kind}" for finding in found[:SHOWN])
            more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            told = ", ".join((first, *others))
            raise Denied(f"secret in {name}: {told}{more} — remove it, or set [write] allow_secrets")


def _places(data: bytes) -> Iterator[tuple[int, str]]:
    """Where a secret stands, and what it looks like; what says more of one place comes first."""
    lowered = data.lower()  # ASCII only, so that offsets are the same
    for kind, words, pattern in _TOKENS:
        for word in words.split():
            yield from ((at, kind) for at in _matches(word, pattern, data) if not data[at - 1 : at].isalnum())
    for kind, word, pattern in _ANYWHERE:
        yield from ((at, kind) for at in _matches(word, pattern, data))
    for kind, word, pattern in _NAMED:
        yield from ((at, kind) for at in _matches(word, pattern, data, lowered))
    yield from ((at, "a private key") for at, end in _words(b"BEGIN ", data) if _is_key(data, end))
    yield from ((at, "a private key") for at, end in _words(_BASE64_PEM, data) if _is_key_in_base64(data, end))
    yield from ((at, "a password in a URL") for at, end in _words(b"://", data) if _has_password(data, end))
    yield from ((at, "a password") for at, end in _words(b"authorization", lowered) if _is_basic(data, end))


def _words(word: bytes, data: bytes) -> Iterator[tuple[int, int]]:
    """Where ``word`` begins and ends, each time it occurs."""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        yield at, end
        at = data.find(word, end)


def _matches(word: str, pattern: str, data: bytes, searched: bytes | None = None) -> Iterator[int]:
    """Where ``word`` stands in ``searched`` (else in ``data``), and ``pattern`` behind it in ``data`` is no example."""
    searched = data if searched is None else searched
    at = searched.find(word.encode())
    while at >= 0:
        end = at + len(word)
        found = _compiled(pattern).match(data, end)
        if found is not None:
            end = found.end()  # not compared again, so that many that overlap cost no more than many that do not
            if not _is_example(found[found.lastindex or 0]):
                yield at
        at = searched.find(word.encode(), end)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())  # at first use: most texts need none


def _is_example(secret: bytes) -> bool:
    """Whether nobody could take ``secret`` for one: it says so, it repeats itself, or it counts up."""
    secret = secret[:_COMPARED]
    lowered = secret.lower()
    if any(word in lowered for word in _EXAMPLE_WORDS) or secret.startswith(_EXAMPLE_SUBJECT):
        return True
    triples = {lowered[at : at + 3] for at in range(len(lowered) - 2)}
    return 2 * len(triples) < len(lowered) - 2 or any(2 * _steps(lowered, by) >= len(lowered) for by in (1, 2))


def _steps(secret: bytes, by: int) -> int:
    """How many characters follow, in the order of their codes, the one so many places before."""
    return sum(later - earlier == 1 for earlier, later in zip(secret, secret[by:], strict=False))


def _is_key(data: bytes, end: int) -> bool:
    """Whether a private key begins after ``BEGIN``, and not only the line that would stand before it."""
    header = _PEM.match(data, end)
    if header is None:
        return False
    beginning = data[header.end() : header.end() + _PEM_BEGINNING].partition(_PEM_END)[0]
    return any(not _is_example(line[0]) for line in _KEY_LINE.finditer(beginning))


def _is_key_in_base64(data: bytes, end: int) -> bool:
    """Whether what begins like a file in PEM form, in base64, is a private key."""
    more = _BASE64.match(data, end)
    if more is None:
        return False
    beginning = _BASE64_PEM + more[0]
    return b"PRIVATE KEY" in b64decode(beginning[: len(beginning) // 4 * 4])


def _has_password(data: bytes, end: int) -> bool:
    """Whether a URL has a password, of a user on a host that may exist."""
    login = _LOGIN.match(data, end)
    return login is not None and not _EXAMPLE_HOST.fullmatch(login[3]) and _is_password(login[1], login[2])


def _is_basic(data: bytes, end: int) -> bool:
    """Whether a header's value is a user's name and password (RFC 7617)."""
    value = _BASIC.match(data, end)
    if value is None:
        return False
    try:
        user, _, password = b64decode(value[1] + b"=" * (-len(value[1]) % 4)).partition(b":")
    except binascii.Error:  # a length that nothing has
        return False
    return user.isascii() and password.isascii() and len(password) >= 4 and _is_password(user, password)


def _is_password(user: bytes, password: bytes) -> bool:
    """Whether a password is none that documentation has in its place."""
    lowered = password.lower()
    stand_in = lowered == user.lower() or lowered in _EXAMPLE_PASSWORDS or _VARIABLE.match(password) is not None
    return not stand_in and not _is_example(password)
