"""Limit the comparisons of a pair, so that its time grows with the length of its texts and not with the square."""

from __future__ import annotations

# No pair of the corpora needs more than 500. This many take about a tenth of a second.
MOST_COMPARISONS = 100_000


class Comparisons:
    """The comparisons that a pair may still take.

    Attributes
    ----------
    left : int
        The comparisons that are left.
    complete : bool
        False if a comparison was refused.

    Examples
    --------
    >>> comparisons = Comparisons(5)
    >>> comparisons.take(3), comparisons.take(3), comparisons.take(2), comparisons.complete
    (True, False, True, False)

    """

    def __init__(self, most: int = MOST_COMPARISONS) -> None:
        self.left = most
        self.complete = True

    def take(self, count: int = 1) -> bool:
        """Return True if ``count`` comparisons are left, and count them. Otherwise, the pair stays incomplete."""
        if count > self.left:
            self.complete = False
            return False
        self.left -= count
        return True
