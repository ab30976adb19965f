"""Run the program with ``python -m paraqd``, for launchers that start modules."""

import sys

from paraqd.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
