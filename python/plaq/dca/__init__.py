"""Dynamical cluster approximation: superconducting T_c of the 2D Hubbard model.

    from plaq import dca
    results = dca.run(dca.Parameters(model={"U": 6}, dca={"temperatures": [1, 0.5], "density": 0.95}))
    results.at(0.5)["energy"].mean, results.tc
"""

from typing import Any

_PLACES = {
    "Parameters": "parameters", "Point": "physics.point", "Results": "results.results", "load": "commands", "run": "commands",
}
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that the command line starts quickly."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
