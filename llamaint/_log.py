"""The package's loggers. Silent until the application configures `logging`."""

from __future__ import annotations

import logging

LOGGER = logging.getLogger("llamaint")
LOGGER.addHandler(logging.NullHandler())

NATIVE_LOGGER = LOGGER.getChild("native")  # what llama.cpp and ggml say
