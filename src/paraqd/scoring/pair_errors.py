"""Define the errors for pairs that cannot be scored because of a fault in the scorer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paraqd.errors import ParaqdError
from paraqd.plural import counted
from paraqd.scoring.verdict import Verdict

_LONGEST = 100  # characters of the cause in a message


class PairError(ParaqdError):
    """Raised when a pair cannot be scored because of a fault in the scorer. ``__cause__`` is the original exception."""

    @classmethod
    def because_of(cls, error: Exception) -> PairError:
        """Return the error for a pair whose comparison raised an exception."""
        why = "".join(sign if sign.isprintable() else " " for sign in str(error))
        why = " ".join(why.split())[:_LONGEST]
        name = type(error).__name__
        found = cls(
            f"the pair could not be scored ({name}{': ' if why else ''}{why}): please report it with both texts"
        )
        found.__cause__ = error
        return found


class PairsError(ParaqdError):
    """Raised when some pairs cannot be scored because of a fault in the scorer. All other pairs have been scored.

    Attributes
    ----------
    results : list of Verdict or PairError
        The verdict or the error of each pair, in the order of the pairs.

    """

    def __init__(self, results: Sequence[Verdict | PairError]) -> None:
        self.results = list(results)
        failed = [number for number, each in enumerate(results, start=1) if isinstance(each, PairError)]
        super().__init__(
            f"{counted(len(failed), 'pair')} of {len(results):,} could not be scored (pair {failed[0]}: "
            f"{results[failed[0] - 1]}); the verdicts on the others are in the attribute results"
        )

    def __reduce__(self) -> tuple[type[PairsError], tuple[list[Verdict | PairError]]]:
        return type(self), (self.results,)


def all_scored(results: Sequence[Verdict | PairError]) -> list[Verdict]:
    """Return the verdicts, or raise a `PairsError` if a pair could not be scored."""
    verdicts = [each for each in results if isinstance(each, Verdict)]
    if len(verdicts) < len(results):
        raise PairsError(results)
    return verdicts


def results_of(wait: Callable[[], Sequence[Verdict]]) -> list[Verdict | PairError]:
    """Wait for verdicts. A pair that could not be scored has its error in the place of its verdict."""
    try:
        return list(wait())
    except PairsError as error:
        return error.results
