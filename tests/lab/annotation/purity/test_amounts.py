"""Read amounts for the second count."""

from fractions import Fraction

import pytest

from paraqd.lab.annotation.purity.amounts import count


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("1,200 and 1,20,000", [(1200, ""), (120000, "")]),
        ("3,4,5", [(3, ""), (4, ""), (5, "")]),
        ("seven hundred and fifty-two thousand three hundred", [(752300, "")]),
        ("one hundred and two hundred", [(100, ""), (200, "")]),
        ("zero point zero six percent", [(Fraction(6, 10000), "")]),
        ("½ and 5 ⅓ and 2-1/2", [(Fraction(1, 2), ""), (Fraction(16, 3), ""), (Fraction(5, 2), "")]),
        ("the twenty-first, a third of it, a third pipe", [(21, ""), (Fraction(1, 3), ""), (3, "")]),
        ("half a dozen, a couple, thrice, twofold", [(6, ""), (2, ""), (3, ""), (2, "")]),
        ("2 hours 30 minutes", [(7200, "time"), (1800, "time")]),
        ("Rs.25 and 5 dollars", [(25, "rupee"), (5, "dollar")]),
        ("3/4 of an hour, per second", [(2700, "time")]),
        ("$3 million, $10k", [(3000000, "dollar"), (10000, "dollar")]),
    ],
)
def test_the_second_count_reads_amounts(text, amounts):
    assert [(a.value, a.dimension) for a in count(text).amounts] == amounts
