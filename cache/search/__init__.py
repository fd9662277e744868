"""Search over what the cache holds: ``query`` and ``rank`` are pure, ``index`` is the SQL."""
