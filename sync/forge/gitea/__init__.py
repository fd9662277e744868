"""Gitea and Forgejo. ``calls`` says what may be asked, ``protocol`` what an answer means; neither does any I/O.
``session`` sends one call, ``files`` and ``client`` put calls together.
"""
