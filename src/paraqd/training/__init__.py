"""Train the models of paraqd from recipes: scorers with a learned judge, and the paper's bi-encoders.

This package needs the extra ``train``: ``pip install 'paraqd[train]'``.
"""

from paraqd.training.settings import TrainSettings

__all__ = ["TrainSettings"]
