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
    **dict.fromkeys(("run", "load", "check", "estimate", "sweep", "report", "digest"), "commands"),
    "Parameters": "parameters", "Results": "results", "combine": "replicas", "analysis": "analysis",
    "Lattice": "fields.lattice", "GaugeField": "fields.gauge_field", "SpinorField": "fields.spinor_field",
    "Flavours": "fields.spinor_field", "gamma": "fields.gamma",
    "LinearOperator": "fields.linear_operator", "Wilson": "fields.wilson", "Doublet": "fields.doublet",
    "solve": "fields.solvers", "solve_normal": "fields.solvers", "solve_shifted": "fields.solvers",
    "Source": "fields.sources", "propagator": "fields.propagators",
    "lowest_eigenvectors": "fields.eigenvectors", "Overlap": "fields.overlap", "solve_overlap": "fields.overlap",
    "overlap_propagators": "fields.overlap", "find_low_modes": "fields.overlap",
    "point_propagator": "fields.propagators", "noise_propagator": "fields.propagators",
    "Propagator": "fields.propagators", "Smearing": "fields.propagators",
    "hmc": "action.hmc", "terms": "action.terms",
    "meson_correlator": "measurements.mesons", "spin_tensor": "measurements.mesons",
    "correlator": "measurements.mesons",
    "baryon_correlator": "measurements.baryons", "baryon_tensor": "measurements.baryons",
    "read_gauge": "files.gauge_formats", "read_ildg": "files.ildg", "write_ildg": "files.ildg",
    "read_nersc": "files.nersc", "write_nersc": "files.nersc", "read_milc": "files.milc",
    "read_openqcd": "files.openqcd", "read_hirep": "files.hirep", "write_hirep": "files.hirep",
    "read_hdf5": "files.hdf5", "write_hdf5": "files.hdf5", "read_npy": "files.npy",
    "read_propagator": "files.propagator_file", "write_propagator": "files.propagator_file",
})
