"""Start the worker in an interpreter that does not know our packages: the folder of this file is loaded as one."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

NAME = "gateway_swarmkit_worker"


def main() -> None:
    folder = Path(__file__).parent
    spec = importlib.util.spec_from_file_location(
        NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        sys.exit(f"cannot load {folder}")
    package = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    importlib.import_module(f"{NAME}.serve").main(sys.argv[1:])


if __name__ == "__main__":
    main()
