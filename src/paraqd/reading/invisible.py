"""Handle characters that readers do not see, and hyphens that look like ``-``."""

from __future__ import annotations

import re

# zero-width space, non-joiner, joiner, word joiner, byte-order mark, soft hyphen
ZERO_WIDTH = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]+")
