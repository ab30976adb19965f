"""Reproduce the tables and figures in the paper.

Each experiment is declared as data, and one runner executes all experiments.

>>> from paraqd.lab.experiments import EXPERIMENTS
>>> [experiment.name for experiment in EXPERIMENTS][:3]
['main', 'operators', 'loss']
"""

from paraqd.lab.experiments.declared import EXPERIMENTS, Experiment
from paraqd.lab.experiments.scales import SCALES, Scale

__all__ = ["EXPERIMENTS", "SCALES", "Experiment", "Scale"]
