"""Lazy import of a package's names, so that the command line starts quickly."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from plaq.errors import NotBuilt


def lazily(package: str, places: dict[str, str]) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package; `places` is {name: module below it}.

    A name whose module ends in the same name is the module itself.
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(f"{package}.{places[name]}")
        except NotBuilt as missing:  # the modules in between do not help to see what is missing
            raise NotBuilt(str(missing)) from None
        return module if name == places[name].rpartition(".")[2] else getattr(module, name)

    find.places = places  # for packaging/stubs.py
    return list(places), find, lambda: sorted(places)
