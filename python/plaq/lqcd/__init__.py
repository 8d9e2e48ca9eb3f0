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

from plaq.lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, {
    "Lattice": "lattice", "GaugeField": "fields", "SpinorField": "fields", "Flavours": "fields",
    "Wilson": "wilson", "Doublet": "doublet",
    "hmc": "hmc", "terms": "terms",
    "point_propagator": "propagators", "noise_propagator": "propagators", "Propagator": "propagators",
    "Smearing": "propagators", "meson_correlator": "mesons", "spin_tensor": "mesons", "correlator": "mesons",
    "gamma": "gamma",
    "read_ildg": "ildg", "write_ildg": "ildg", "read_nersc": "nersc",
    "Parameters": "parameters", "run": "commands", "load": "commands", "report": "commands", "digest": "commands",
    "read_propagator": "propagator_file", "write_propagator": "propagator_file",
})
