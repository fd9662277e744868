"""Where repositories come from: one interface (``base``), one module or package for each kind of forge."""
