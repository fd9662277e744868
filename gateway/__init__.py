"""How knowledge is served: configuration, read and write paths, tools, transports, the command line."""

from typing import Final

DISTRIBUTION: Final = "gitea-knowledge-gateway"  # what the package index calls it: the names of our packages are generic
