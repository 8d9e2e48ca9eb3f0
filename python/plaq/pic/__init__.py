"""Particle-in-cell simulation of plasmas.

    from plaq import pic
    results = pic.run(pic.Parameters(grid={"cells": [64], "length": [12.57]}, time={"end": 40},
        fields={"of_charges": True}, species={"electrons": {
            "charge": -1, "mass": 1, "density": "1 + 0.01*cos(0.5*x)", "per_cell": 100, "placed": "even"}}))
    results["electric_x"].values, results.plot("energy")
"""

from plaq.lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, {
    **dict.fromkeys(("run", "load", "check", "estimate", "sweep", "report", "digest"), "commands"),
    "Parameters": "inputs.parameters", "Results": "results.results", "Formula": "inputs.formula",
    "Units": "inputs.units", "write_particles": "inputs.particle_files", "Series": "diagnostics.series",
    "theory": "results.theory", "growth_rate": "diagnostics.spectra",
})
