"""Switch off what other packages would report about their users.

``SECURITY.md`` describes what each package would send or record.
"""

from __future__ import annotations

import os

OFF = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, and through it transformers, datasets and trl
    "RAY_USAGE_STATS_ENABLED": "0",  # ray
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",  # deepeval
}


def switch_off() -> None:
    """Set the variables in which these packages look for the user's choice.

    The package ``paraqd`` calls this function before it imports anything else, because most of these packages read the
    variables only once, when they are imported.
    """
    os.environ.update(OFF)
