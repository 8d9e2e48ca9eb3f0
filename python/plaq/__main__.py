"""Make ``python -m plaq`` the same as ``plaq``: the working directory, which Python adds to the path, is removed."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from plaq.main import main  # noqa: E402

main()
