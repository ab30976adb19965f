"""Run the server with the model ``reading`` and a database of its own, to try the review page.

``PYTHONPATH=src python tests/server/review/small_app.py [PORT] [DATABASE]``
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from paraqd.server.app import create_app
from paraqd.server.settings import Settings


def small_app(database):
    return create_app(Settings(model="reading", database=str(database)))


if __name__ == "__main__":
    import uvicorn

    port, database = [*sys.argv[1:], "8000", Path(tempfile.gettempdir()) / "paraqd-review.sqlite"][:2]
    if len(sys.argv) == 2:
        database = Path(tempfile.gettempdir()) / "paraqd-review.sqlite"
    uvicorn.run(small_app(database), port=int(port))
