"""Score the pairs in a pandas data frame. Importing this module adds the accessor ``paraqd`` to every data frame.

>>> import pandas as pd
>>> import paraqd.integrations.pandas_accessor
>>> question = "Ann has 5 pens. How many?"
>>> pairs = pd.DataFrame({"question": [question] * 2, "paraphrase": [question, "Ann has 6 pens. How many?"]})
>>> pairs.paraqd.score(model="reading")[["valid", "why"]].values.tolist()
[[True, ''], [False, 'A number changed: "5" became "6".']]
>>> len(pairs.paraqd.keep_valid(model="reading"))
1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from paraqd.errors import ArgumentError
from paraqd.extras import require_extra
from paraqd.integrations.scorer_handle import cached_handle
from paraqd.runs.score import Model

require_extra("pandas", "the pandas accessor")
import pandas as pd  # noqa: E402

if TYPE_CHECKING:
    from pandas import DataFrame


@pd.api.extensions.register_dataframe_accessor("paraqd")
class ParaqdAccessor:
    """The accessor ``DataFrame.paraqd``."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def score(self, *, question: str = "question", paraphrase: str = "paraphrase", **options: Any) -> DataFrame:
        """Return a data frame with the same index and the columns of ``paraqd score``, and the column ``why``.

        Parameters
        ----------
        question, paraphrase : str
            The columns that contain the questions and paraphrases.
        **options
            ``model``, ``mode``, ``threshold``, ``skip`` and ``judge`` are passed to `paraqd.Scorer.load`.

        """
        missing = [name for name in (question, paraphrase) if name not in self._frame.columns]
        if missing:
            names = ", ".join(map(str, self._frame.columns))
            raise ArgumentError(
                f"the data frame has no column {missing[0]!r}: its columns are {names}; pass question and paraphrase"
            )
        found = cached_handle(Model(**options)).columns(_texts(self._frame[question]), _texts(self._frame[paraphrase]))
        scored = pd.DataFrame(found, index=self._frame.index)
        return scored.astype({"score": "float64", "valid": "boolean"})  # both may be missing

    def keep_valid(self, **options: Any) -> DataFrame:
        """Return the rows whose pairs are valid. The options are those of `score`.

        A row that cannot be scored is not kept.
        """
        return self._frame[self.score(**options)["valid"].fillna(False).to_numpy(dtype=bool)]


def _texts(column: Iterable[Any]) -> list[Any]:
    """Return the values of a column, with None for missing values."""
    return [None if value is None or value is pd.NA or value != value else value for value in column]
