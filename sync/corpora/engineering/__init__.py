"""An engineering knowledge base: Markdown files below ``knowledge/`` and an inbox. ``base`` is its face."""
