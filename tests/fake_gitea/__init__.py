"""A forge for tests: a Gitea in memory that answers what recordings of a real one show.

    forge = FakeGitea()
    forge.add_user("alice", token="fake-token-alice", scopes={"read:user", "read:repository"})
    repo = forge.add_repo("acme/web", {".wiki/index.md": "# Wiki\n"}, private=True)
    with listen(forge) as url:                 # from a thread; what is changed here shows at once
        repo.commit({".wiki/a.md": "# A\n", "old.md": None})
        repo.rename("acme/site")
        forge.faults.add(unavailable("1"), route="/user/repos", times=1)
        ...
        assert forge.counts == {"GET /user/repos": 2}
        assert undescribed(forge.requests) == []
    with serve(forge) as server:               # a copy, in a process of its own
        server.run(FakeGitea.commit, "acme/site", {"b.md": "new"})

``forge.app`` is the ASGI application alone.
"""

from tests.fake_gitea.certificates import Certificates, make_certificates
from tests.fake_gitea.describe import undescribed
from tests.fake_gitea.faults import (
    CutBody,
    Delay,
    Endless,
    Gzip,
    Hang,
    Headers,
    Json,
    NullEntries,
    Reply,
    Reset,
    Trickle,
    When,
    redirect,
    too_many,
    unavailable,
    web_page,
)
from tests.fake_gitea.forge import FakeGitea
from tests.fake_gitea.listen import listen
from tests.fake_gitea.log import Exchange
from tests.fake_gitea.repository import Repo
from tests.fake_gitea.serve import Server, serve
from tests.fake_gitea.state import FORGEJO, GITEA, GITEA_1_22, Access, Clock, Dialect, Limits
from tests.support.git_files import Submodule, Symlink

__all__ = [
    "FORGEJO",
    "GITEA",
    "GITEA_1_22",
    "Access",
    "Certificates",
    "Clock",
    "CutBody",
    "Delay",
    "Dialect",
    "Endless",
    "Exchange",
    "FakeGitea",
    "Gzip",
    "Hang",
    "Headers",
    "Json",
    "Limits",
    "NullEntries",
    "Reply",
    "Repo",
    "Reset",
    "Server",
    "Submodule",
    "Symlink",
    "Trickle",
    "When",
    "listen",
    "make_certificates",
    "redirect",
    "serve",
    "too_many",
    "unavailable",
    "undescribed",
    "web_page",
]
