"""Reproduce the tables and figures in the paper.

Every experiment is a declaration, and a single runner executes all of them.

>>> from paraqd.experiments import EXPERIMENTS
>>> [experiment.name for experiment in EXPERIMENTS][:3]
['main', 'operators', 'loss']
"""

from paraqd.experiments.declared import EXPERIMENTS, Experiment
from paraqd.experiments.scales import SCALES, Scale

__all__ = ["EXPERIMENTS", "SCALES", "Experiment", "Scale"]
