"""How knowledge is served: configuration, read and write paths, tools, transports, the command line."""

from typing import Final

DISTRIBUTION: Final = "gitea-knowledge-gateway"  # on the package index; the names of our packages are generic
