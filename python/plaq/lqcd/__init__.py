"""Lattice QCD: gauge fields, Wilson and twisted-mass fermions.

    from plaq import lqcd
    lattice = lqcd.Lattice((16, 8, 8, 8))                     # t, x, y, z
    gauge = lqcd.GaugeField(lattice).hot(seed=1)
    for sweep in range(100):
        gauge.heat_bath(beta=6.0, seed=1, sweep=sweep)
    print(gauge.plaquette())
    matrix = lqcd.Wilson(gauge, kappa=0.14, theta=(1, 0, 0, 0))
    propagator = lqcd.point_propagator(matrix, (0, 0, 0, 0))
    print(lqcd.meson_correlator(propagator, "gamma5"))
"""

from typing import Any

_PLACES = {
    "Lattice": "lattice", "GaugeField": "fields", "SpinorField": "fields", "Wilson": "wilson", "hmc": "hmc", "terms": "terms",
    "point_propagator": "mesons", "noise_propagator": "mesons", "meson_correlator": "mesons", "gamma": "gamma",
    "read_ildg": "ildg", "write_ildg": "ildg", "read_nersc": "nersc",
}
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that the command line starts quickly."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_PLACES[name]}")
    return module if name == _PLACES[name] else getattr(module, name)
