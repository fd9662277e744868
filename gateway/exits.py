"""What the exit code of ``gateway`` says."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Codes from 64 on are those of ``sysexits.h``, from 128 on the shell's for a signal."""

    OK = 0
    NOTHING = 1  # ask, search: nothing was found
    USAGE = 2
    FAILED = 3  # an error, or some projects of a sync failed
    UNLISTED = 4  # sync: a forge could not be listed
    INTERNAL = 70
    LEASED = 75  # sync: another one holds the lease; try again later
    INTERRUPTED = 130
    PIPE = 141
