"""``python -m llamaint.cli`` is the same as ``llamaint``."""

from llamaint.cli import main

main()
