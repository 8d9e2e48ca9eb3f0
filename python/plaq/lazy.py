"""Names of a package that are imported when they are first used, so that the command line starts quickly."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazily(package: str, places: dict[str, str]) -> tuple[list[str], Callable[[str], Any]]:
    """`__all__` and `__getattr__` of a package: `places` says for every name which module below it has it.

    A name whose module has the same name is the module itself.
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{places[name]}")
        return module if name == places[name] else getattr(module, name)

    return list(places), find
