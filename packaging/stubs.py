"""Write the stubs (.pyi) of packages whose names are imported when they are used, so that editors complete them.

    python packaging/stubs.py
"""

from importlib import import_module
from pathlib import Path

PACKAGES = ("plaq", "plaq.dca", "plaq.lqcd", "plaq.pic")
EXTRA = {"plaq": "__version__: str\n"}


def stub(package):
    """The text of a package's stub: every public name, imported from where it is."""
    lines = []
    for name, place in sorted(import_module(package).__getattr__.places.items(), key=lambda item: item[::-1]):
        parent, _, last = place.rpartition(".")
        module = ".".join(filter(None, (package, parent))) if name == last else f"{package}.{place}"
        lines.append(f"from {module} import {name} as {name}\n")
    return "".join(lines) + EXTRA.get(package, "")


def path(package):
    return Path(import_module(package).__file__).with_suffix(".pyi")


if __name__ == "__main__":
    for each in PACKAGES:
        path(each).write_text(stub(each))
