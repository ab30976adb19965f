"""Check that one row in the table of currencies is enough for all rooms."""

import os
import subprocess
import sys

import pytest

from paraqd.reading import read
from paraqd.reading.currencies import CURRENCIES, ORDINARY_WORDS

# load the table with one more row, and let each room use it
NEW_CURRENCY = """
import random
import sys
from importlib.machinery import PathFinder, SourceFileLoader

ROW = 'Currency("baht", "baht", codes=("thb",), signs="฿", coin="satang", coin_plural="satang"),'


class OneMoreRow(SourceFileLoader):
    def get_code(self, fullname):
        start = "CURRENCIES: tuple[Currency, ...] = ("
        return compile(self.get_source(fullname).replace(start, start + ROW), self.path, "exec")


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "paraqd.reading.currencies":
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = OneMoreRow(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)

from paraqd import Scorer
from paraqd.lab.annotation.purity.amounts import count
from paraqd.lab.operators import Resources, get
from paraqd.reading import read

for text in ("฿5", "THB 5", "5 baht", "500 satang"):
    quantity, = read(text).quantities
    print(text, quantity.unit, [(str(a.value), a.dimension) for a in count(text).amounts])
print(get("NumToWords").apply(read("It costs ฿5.20."), random.Random(0), Resources()))
print(get("EqualQuantity").apply(read("It costs 2 baht in all."), random.Random(0), Resources()))
kinds = [e.kind.value for e in Scorer.load().score("It costs ฿5. Why?", "It costs €5. Why?").evidence]
print(kinds)
"""


def test_a_new_currency_is_one_row():
    program = [sys.executable, "-c", NEW_CURRENCY]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(program, capture_output=True, encoding="utf-8", env=environment, check=False)
    assert done.stdout.splitlines() == [
        "฿5 baht [('5', 'baht')]",
        "THB 5 baht [('5', 'baht')]",
        "5 baht baht [('5', 'baht')]",
        "500 satang satang [('5', 'baht')]",
        "It costs five baht and twenty satang.",
        "It costs 200 satang in all.",
        "['unit_changed']",
    ], done.stderr


@pytest.mark.parametrize("currency", CURRENCIES, ids=lambda currency: currency.name)
def test_every_currency_is_read_by_its_names_codes_and_signs(currency):
    texts = [f"{sign}5" for sign in currency.signs]
    texts += [f"{code.upper()} 5" for code in currency.codes]
    texts += [f"It costs 5 {name} in all." for name in currency.words if name not in ORDINARY_WORDS]
    for text in texts:
        assert [quantity.unit for quantity in read(text).quantities] == [currency.name], text
