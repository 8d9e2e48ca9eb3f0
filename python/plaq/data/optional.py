"""Packages that some functions need and plaq does not."""

from importlib import import_module
from typing import Any


def package(name: str) -> Any:
    """Return a package; ImportError with the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install {name}") from None
