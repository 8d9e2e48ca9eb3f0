"""Dynamical cluster approximation: superconducting T_c of the 2D Hubbard model.

    from plaq import dca
    results = dca.run(dca.Parameters(model={"U": 6}, dca={"temperatures": [1, 0.5], "density": 0.95}))
    results.at(0.5)["energy"].mean, results.tc
"""

from plaq.lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, {
    **dict.fromkeys(("run", "load", "check", "estimate", "sweep", "report", "digest"), "commands"),
    "Parameters": "parameters", "Point": "physics.point", "Results": "results.results",
    "spectra": "continuation.run_spectra", "Spectra": "continuation.run_spectra",
})
