"""A forge in a process of its own: it is told what to do over a pipe, whose descriptor is the only argument."""

import sys

from tests.fake_gitea.serve import obey

obey(int(sys.argv[1]))
