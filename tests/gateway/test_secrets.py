"""What looks like a secret, and what does not. Nothing here is one: each is made when the test runs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import Denied
from gateway import secrets
from gateway.secrets import Finding, find_secrets, refuse_secrets

DIGITS = "0123456789"
HEX = DIGITS + "abcdef"
LOWER = "abcdefghijklmnopqrstuvwxyz"
ALNUM = DIGITS + LOWER + LOWER.upper()


def made(length: int, alphabet: str = ALNUM) -> str:
    """Characters that look like chance and always are the same."""
    found = ""
    while len(found) < length:
        found += "".join(
            alphabet[byte % len(alphabet)] for byte in hashlib.sha256(f"fake {len(found)}".encode()).digest()
        )
    return found[:length]


def pem(label: str, *headers: str, body: str | None = None) -> str:
    """A file in PEM form with a key that is none."""
    lines = [made(64), made(63), made(20) + "=="] if body is None else [body]
    return "\n".join([f"-----BEGIN {label}-----", *headers, *lines, f"-----END {label}-----"])


def basic(login: str) -> str:
    return "Authorization: Basic " + b64encode(login.encode()).decode()


def kinds(text: str) -> list[str]:
    return [finding.kind for finding in find_secrets(text)]


TOKENS = [
    ("a GitHub token", "gh" + "p_" + made(36)),
    ("a GitHub token", "gh" + "s_" + made(36)),
    ("a GitHub token", "github" + "_pat_" + made(22) + "_" + made(59)),
    ("a GitLab token", "gl" + "pat-" + made(20)),
    ("a GitLab token", "gl" + "rt-" + made(20)),
    ("a Slack token", "xo" + "xb-" + made(12, DIGITS) + "-" + made(12, DIGITS) + "-" + made(24)),
    ("a Slack token", "xa" + "pp-1-A" + made(9, DIGITS) + "-" + made(13, DIGITS) + "-" + made(64, HEX)),
    ("a Slack webhook", "https://hooks.slack" + ".com/services/T" + made(8) + "/B" + made(8) + "/" + made(24)),
    ("a Discord webhook", "https://discord" + ".com/api/webhooks/" + made(18, DIGITS) + "/" + made(68)),
    ("an AWS access key", "AK" + "IA" + made(16, LOWER.upper() + "234567")),
    ("an AWS secret key", "aws_secret" + "_access_key = " + made(40)),
    ("an AWS secret key", '"SecretAccess' + 'Key": "' + made(40) + '"'),
    ("a Google API key", "AI" + "za" + made(35)),
    ("a Google client secret", "GOC" + "SPX-" + made(28)),
    ("a Google access token", "ya" + "29." + made(60)),
    ("a Stripe key", "sk" + "_live_" + made(24)),
    ("an npm token", "np" + "m_" + made(36)),
    ("a PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + made(60)),
    ("a RubyGems key", "ruby" + "gems_" + made(48, HEX)),
    ("an Anthropic API key", "sk" + "-ant-api03-" + made(93) + "AA"),
    ("an OpenAI API key", "sk" + "-proj-" + made(60)),
    ("an OpenRouter API key", "sk" + "-or-v1-" + made(64, HEX)),
    ("an API key", "sk" + "-" + made(48)),
    ("a Hugging Face token", "h" + "f_" + made(34, LOWER + LOWER.upper())),
    ("a Groq API key", "gs" + "k_" + made(52)),
    ("a SendGrid API key", "S" + "G." + made(22) + "." + made(43)),
    ("a DigitalOcean token", "do" + "p_v1_" + made(64, HEX)),
    ("a Docker token", "dc" + "kr_pat_" + made(27)),
    ("a Shopify token", "sh" + "pat_" + made(32, HEX)),
    ("a Databricks token", "da" + "pi" + made(32, HEX)),
    ("a Grafana token", "gl" + "sa_" + made(32) + "_" + made(8, HEX)),
    ("a Vault token", "hv" + "s." + made(90)),
    ("an Atlassian token", "AT" + "ATT3" + made(180)),
    ("a Replicate token", "r" + "8_" + made(37)),
    ("a Linear API key", "li" + "n_api_" + made(40)),
    ("a Notion token", "nt" + "n_" + made(46)),
    ("a Figma token", "fi" + "gd_" + made(40)),
    ("a New Relic key", "NR" + "AK-" + made(27, LOWER.upper() + DIGITS)),
    ("an xAI API key", "xa" + "i-" + made(80)),
    ("a Postman API key", "PM" + "AK-" + made(24, HEX) + "-" + made(34, HEX)),
    ("a Supabase token", "sb" + "p_" + made(40, HEX)),
    ("a Sentry token", "sn" + "tryu_" + made(64, HEX)),
    ("a Tailscale key", "ts" + "key-auth-" + made(12) + "-" + made(32)),
    ("a Telegram bot token", made(9, "123456789") + ":A" + "A" + made(33)),
    ("an Azure storage key", "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=" + made(86) + "=="),
    ("an Azure access key", "SharedAccessKeyName=all;SharedAccess" + "Key=" + made(43) + "="),
    ("an Azure client secret", made(3) + "8" + "Q~" + made(34)),
    ("a JSON web token", "ey" + "J" + made(40) + ".ey" + "J" + made(80) + "." + made(43)),
    ("an access token", "GITEA_" + "TOKEN=" + made(40, HEX)),
    ("an access token", "to" + "ken: '" + made(40, HEX) + "'"),
    ("an access token", "https://git.example.test/api?access_to" + "ken=" + made(40, HEX)),
    ("an access token", "gateway init --to" + "ken " + made(40, HEX)),
    ("an access token", "curl -H 'Authoriz" + "ation: to" + "ken " + made(40, HEX) + "'"),
    ("an access token", 'headers["Authoriz' + 'ation"] = "Bear' + "er " + made(32) + '"'),
    ("a password", basic("alice:" + made(12))),
    ("a password in a URL", "https://alice:" + made(12) + "@git.company.io/x.git"),
    ("a password in a URL", "postgres://app:" + made(9) + "!x@db.company.io:5432/app"),
    ("a private key", "AGE-SECRET" + "-KEY-1" + made(58, LOWER.upper() + DIGITS)),
    ("a private key", "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate" + "-Lines: 1\n" + made(48)),
    ("a private key", "client-key-data: " + b64encode(pem("RSA PRIV" + "ATE KEY").encode()).decode()),
]
KEYS = [
    pem("PRIV" + "ATE KEY"),
    pem("RSA PRIV" + "ATE KEY"),
    pem("EC PRIV" + "ATE KEY"),
    pem("DSA PRIV" + "ATE KEY"),
    pem("OPENSSH PRIV" + "ATE KEY"),
    pem("ENCRYPTED PRIV" + "ATE KEY"),
    pem("RSA PRIV" + "ATE KEY", "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,99AD1487680054D5", ""),
    pem("PGP PRIV" + "ATE KEY BLOCK", "Version: fake", ""),
    pem("PRIV" + "ATE KEY").replace("\n", "\\n"),
    pem("PRIV" + "ATE KEY").replace("\n", "\r\n    > "),
    pem("PRIV" + "ATE KEY").partition("-----END")[0],
    "---- BEGIN SSH2 ENCRYPTED PRIV" + "ATE KEY ----\n" + made(64) + "\n",
]
HARMLESS = [
    "Plain words about tokens, secrets and passwords: see Authorization, BEGIN PRIVATE KEY and ghp_.",
    "commit " + made(40, HEX),
    "sha256:" + made(64, HEX) + " token",
    f"The token {made(40, HEX)} of this text is a commit's name",
    '"integrity": "sha512-' + made(86) + '=="',
    "550e8400-e29b-41d4-a716-446655440000",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfi" + "CYEXAMPLEKEY",
    "gh" + "p_" + "x" * 36,
    "gh" + "p_" + "XXXX1234" * 5,
    "gh" + "p_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "gh" + "p_" + "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8",
    "gh" + "p_" + "yourPersonalAccess" + made(18),
    "gh" + "p_<token>, gh" + "p_..., gh" + "p_****",
    "gl" + "pat-" + "aaaaaaaaaaaaaaaaaaaa",
    "sk" + "_test_" + made(24),
    "sk" + "_live_" + "000000000000000000000000",
    "a" + "gh" + "p_" + made(36),
    "risk" + "-" + made(40),
    "GITEA_TOKEN=${GITEA_TOKEN}",
    "token: " + "0123456789" * 4,
    "token = deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer your-access-token-goes-here",
    "Authorization: Bearer any.words.that.are.put.here",
    "Authorization: token ABC",
    basic("user:pass"),
    basic("Aladdin:open sesame"),
    basic("alice:${PASSWORD}"),
    "Authorization: Basic " + made(41),
    "https://user:pass@git.company.io/",
    "https://user:password@git.company.io/",
    "https://alice:$TOKEN@git.company.io/",
    "https://alice:${TOKEN}@git.company.io/",
    "https://alice:<token>@git.company.io/",
    "https://alice:{password}@git.company.io/",
    "https://alice:%(password)s@git.company.io/",
    "https://alice:******@git.company.io/",
    "https://alice:alice@git.company.io/",
    "postgres://app:" + made(12) + "@localhost:5432/app",
    "https://alice:" + made(12) + "@git.example.test/",
    "https://alice:" + made(12) + "@example.com/",
    "https://git.company.io:3000/@alice and a@b.io",
    "git@git.company.io:acme/web.git",
    "-----BEGIN PRIV" + "ATE KEY-----",
    "-----BEGIN PRIV" + "ATE KEY-----\n...\n-----END PRIV" + "ATE KEY-----",
    "The file starts with `-----BEGIN RSA PRIV" + "ATE KEY-----`. " + "A long explanation follows. " * 20,
    pem("PRIV" + "ATE KEY", body="fakefakefake" + made(52)),
    pem("PUBLIC KEY"),
    pem("CERTIFICATE"),
    pem("PGP PUBLIC KEY BLOCK"),
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made(43) + " alice@example.test",
    b64encode(pem("CERTIFICATE").encode()).decode(),
    # The token of every introduction to JSON web tokens
    "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0." + made(43),
    "data:image/png;base64," + made(4000),
    "npm_config_registry npm_lifecycle_event hf_hub_download r8_model",
]


class TestFound:
    @pytest.mark.parametrize(("kind", "text"), TOKENS)
    def test_each_shape_is_known(self, kind: str, text: str) -> None:
        assert kinds(text) == [kind]
        assert kinds(f"Text “ü”: `{text}`.\n") == [kind]
        assert kinds(f"TOKEN\n={text}\n") == [kind]

    @pytest.mark.parametrize("text", KEYS)
    def test_so_is_each_kind_of_private_key(self, text: str) -> None:
        assert kinds(f"Text\n\n{text}\n\nMore") == ["a private key"]

    def test_every_shape_was_tried(self) -> None:
        shapes = {kind for kind, *_ in (*secrets._TOKENS, *secrets._ANYWHERE, *secrets._NAMED)}
        assert shapes <= {kind for kind, _ in TOKENS}

    @pytest.mark.parametrize("text", HARMLESS)
    def test_what_is_none_is_let_through(self, text: str) -> None:
        assert find_secrets(text) == ()

    def test_an_example_does_not_hide_what_follows(self) -> None:
        assert kinds(f"gh{'p_'}{'x' * 36} gh{'p_'}{made(36)}") == ["a GitHub token"]
        assert kinds(f"{pem('PRIV' + 'ATE KEY', body='...')}\n{KEYS[0]}") == ["a private key"]

    def test_lines_are_those_of_the_text(self) -> None:
        token = TOKENS[0][1]
        found = find_secrets(f"ü\r\n\n{token}\n\n\n{KEYS[0]}\n{token} {token}")
        assert found == (Finding(3, "a GitHub token"), Finding(6, "a private key"), Finding(11, "a GitHub token"))

    def test_no_more_than_a_few_are_found(self) -> None:
        assert len(find_secrets(f"{TOKENS[0][1]}\n" * 1000)) == secrets.MAX_FOUND

    @given(st.text())
    def test_any_text_can_be_looked_through(self, text: str) -> None:
        find_secrets(text)

    @given(
        st.lists(st.sampled_from([*(text[:12] for _, text in TOKENS), "-----BEGIN ", "\n", ":", "@", "=", "://", "é"]))
    )
    def test_so_can_pieces_of_tokens(self, pieces: list[str]) -> None:
        find_secrets("".join(pieces))


class TestRefusal:
    def test_it_names_line_kind_and_remedy_and_never_the_secret(self) -> None:
        token = TOKENS[0][1]
        with pytest.raises(Denied) as refusal:
            refuse_secrets({"title": "Fix yarn", "body": f"\n\n{token}"})
        assert refusal.value.line == (
            "denied: secret in body: line 3 looks like a GitHub token — remove it, or set [write] allow_secrets"
        )

    def test_of_several_it_names_a_few(self) -> None:
        with pytest.raises(
            Denied, match=r"^secret in title: line 1 .* token, line 2 .*, line 3 .*, and 2 more — remove"
        ):
            refuse_secrets({"title": f"{TOKENS[0][1]}\n" * 5})

    def test_what_holds_none_passes(self) -> None:
        refuse_secrets({"title": "Fix yarn", "body": "Use corepack."})


HOSTILE = """
from gateway.secrets import find_secrets
size = 1 << 18
pieces = [
    "a", "gh" "p_", "gl" "pat-", "xo" "xa-", "ey" "J", "." "ey" "J", "a" * 16 + ".ey" "J", "://", "://a:", "a:", "b@",
    "BEGIN PRIVATE KEY-----", "BEGIN PRIVATE KEY----" + "a" * 39 + " ", "LS0tLS1C" "RUdJTi", "token=", "secret_key=",
    "authorization: bearer ", "authorization: basic ", "gl" "pat-" + "x" * 20, "-----BEGIN ", ":A" "A",
    "1" * 8 + ":A" "A",
]
for piece in pieces:
    find_secrets(piece * (size // len(piece)))
"""


def test_time_is_linear_in_whatever_text() -> None:
    """A quarter of a MiB of each takes a tenth of a second; were it the square of the length, it would be minutes."""
    subprocess.run([sys.executable, "-c", HOSTILE], check=True, timeout=100)
