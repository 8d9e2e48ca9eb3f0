"""Statistics of series [configuration, ...]: errors, fits, model averages, variational method, scales.

    from plaq.lqcd import analysis
    pion = analysis.fit_correlator("pion", series, first=6)     # series [configuration, t]
    print(pion["mass"], pion.quality)

Nothing here needs a lattice, a run or a compiled kernel.
"""

from plaq.lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, {
    "average": "averages", "chains": "averages", "first_order": "averages", "gamma_method": "averages",
    "weights": "fits", "quality": "fits",
    "fit": "correlator_fits", "fit_correlator": "correlator_fits", "fold": "correlator_fits", "Fit": "correlator_fits",
    "Model": "models", "correlator_model": "models",
    "average_models": "model_averages", "scan_windows": "model_averages", "ModelAverage": "model_averages",
    "solve_gevp": "variational", "gevp_energies": "variational", "optimal_correlators": "variational",
    "to_observables": "observables", "from_observables": "observables",
})
