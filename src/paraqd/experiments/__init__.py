"""Reproduce the tables and figures of the paper: declared experiments and one runner for all.

>>> from paraqd.experiments import EXPERIMENTS
>>> [experiment.name for experiment in EXPERIMENTS][:3]
['main', 'operators', 'loss']
"""

from paraqd.experiments.declared import EXPERIMENTS, Experiment
from paraqd.experiments.scales import SCALES, Scale

__all__ = ["EXPERIMENTS", "SCALES", "Experiment", "Scale"]
