from __future__ import annotations

from typing import get_type_hints

import pytest

pytest.importorskip("sentence_transformers")

from paraqd.lab.cli.experiment import experiment as command
from paraqd.lab.experiments import EXPERIMENTS


def test_the_help_of_the_command_lists_every_experiment():
    [argument] = get_type_hints(command, include_extras=True)["names"].__metadata__
    assert argument.help == ", ".join(found.name for found in EXPERIMENTS) + ", or all."
