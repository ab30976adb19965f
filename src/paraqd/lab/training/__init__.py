"""Train paraqd's models from recipes: scorers with a learned judge, and the paper's bi-encoders.

Training requires the extra ``train``: ``pip install 'paraqd[train]'``.
"""

from paraqd.lab.training.settings import TrainSettings

__all__ = ["TrainSettings"]
