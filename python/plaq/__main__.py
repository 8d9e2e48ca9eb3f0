"""Start the command line, as ``plaq`` and as ``python -m plaq``.

Python puts the folder of the script or the working directory first on the path; a random.py there is no part of plaq.
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from plaq.main import main  # noqa: E402

if __name__ == "__main__":
    main()
