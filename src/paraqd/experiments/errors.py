"""What stops an experiment, in one line."""


class ExperimentError(ValueError):
    """An experiment cannot be run as asked; the message says why and what to do."""


class NotRunError(Exception):
    """A part cannot run for want of data or weights; the others go on without it."""
