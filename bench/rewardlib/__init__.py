"""The parts of the reward benchmark: scorers beside the GPU, the log of a run, and its plot."""
