"""``python -m plaq`` is ``plaq``: the folder where it is started, which Python puts on the path, is not on it."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from plaq.main import main  # noqa: E402

main()
