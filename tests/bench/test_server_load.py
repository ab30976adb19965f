"""Test the parts of the load benchmark that need no server."""

import json
import sys
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

pytest.importorskip("httpx")
import server_load

RESULTS = Path(__file__).parents[2] / "results" / "server"


def test_no_text_is_sent_twice():
    texts = [text for pair in islice(server_load.different_pairs(), 3000) for text in pair]
    assert len(set(texts)) == len(texts) == 6000


def test_requests_have_32_pairs():
    pairs = list(islice(server_load.different_pairs(), 70))
    requests = server_load.requests_of(pairs)
    assert [len(some) for some, _ in requests] == [32, 32, 6]
    assert json.loads(requests[2][1])["pairs"][5]["question"] == pairs[69][0]


def test_percentiles():
    assert server_load.percentile([3, 1, 2], 0.5) == 2
    assert server_load.percentile(range(100), 0.99) == 99


def test_the_page_is_made_from_the_figures():
    found = json.loads((RESULTS / "server.json").read_text(encoding="utf-8"))
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == server_load.page(found)
    assert found["wrong"] == 0 and found["alive"] and found["exit_code"] == 0
