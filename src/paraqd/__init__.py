"""Tells whether a paraphrase is still the same word problem.

>>> import paraqd
>>> problem = paraqd.read("Alex travelled 100 km at 20 kmph. How many hours did it take him?")
>>> [(str(q.value), q.unit) for q in problem.quantities]
[('100', 'kilometre'), ('20', 'kilometre/hour')]
"""

from importlib.metadata import PackageNotFoundError, version

from paraqd.reading import Problem, Quantity, equal, read

try:
    __version__ = version("paraqd")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["Problem", "Quantity", "__version__", "equal", "read"]
