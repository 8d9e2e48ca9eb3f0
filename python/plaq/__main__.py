"""``python -m plaq`` is ``plaq``."""

from plaq.cli import main

main()
