"""How a serving process ends."""

from __future__ import annotations

import os
import threading


def end_process_within(seconds: float) -> None:
    """End the process with status 0 in ``seconds`` unless it ends by itself before that.

    A call that blocks a thread cannot be cancelled, and the interpreter would wait for that thread. Nothing is lost:
    what the cache file must hold, it holds at any moment.
    """
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
