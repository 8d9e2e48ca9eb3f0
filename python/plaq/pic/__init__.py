"""Particle-in-cell simulation of plasmas.

    from plaq import pic
    results = pic.run(pic.Parameters(grid={"cells": [64], "length": [12.57]}, time={"end": 40}, species={"electrons": {
        "charge": -1, "mass": 1, "density": "1 + 0.01*cos(0.5*x)", "per_cell": 100}}))
    results["electric_x"].values, results.plot("energy")
"""

from typing import Any

_PLACES = {"Parameters": "parameters", "Results": "results", "Formula": "formula", "Units": "units", "Series": "series",
           "run": "commands", "load": "commands", "report": "commands", "digest": "commands", "theory": "theory", "growth_rate": "spectra"}
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that the command line starts quickly."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_PLACES[name]}")
    return module if name == _PLACES[name] else getattr(module, name)
