"""``python -m plaq`` is ``plaq``."""

from plaq.main import main

main()
