"""Gitea and Forgejo. ``calls`` says what may be asked; ``protocol`` what an answer means, ``outcomes``, ``settling``
and ``refusals`` what an answer to a write does; none of them does any I/O. ``session`` sends one call, ``files``,
``writes`` and ``client`` put calls together.
"""
