"""Read a corpus, check that each string of digits is in exactly one quantity, and measure the speed on one core.

python bench/reading.py questions.jsonl.gz
"""

from __future__ import annotations

import argparse
import re
import time

from paraqd.reading import read
from paraqd.tables.table import open_table

_DIGITS = re.compile(r"\d+")


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    texts = [str(row["question"]) for row in open_table(parser.parse_args().questions).rows(["question"])]
    read(texts[0])  # load the lists of names
    started, cpu = time.perf_counter(), time.process_time()
    quantities = [read(text).quantities for text in texts]
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    astray = sum(
        sum(q.start <= match.start() and match.end() <= q.end for q in found) != 1
        for text, found in zip(texts, quantities, strict=True)
        for match in _DIGITS.finditer(text)
    )
    print(f"{len(texts):,} questions read without a crash")
    print(f"{sum(map(len, quantities)):,} quantities; digit strings not in exactly one of them: {astray}")
    print(f"{len(texts) / seconds:,.0f} questions/s in wall time, {len(texts) / cpu:,.0f} in CPU time, on one core")


if __name__ == "__main__":
    main()
