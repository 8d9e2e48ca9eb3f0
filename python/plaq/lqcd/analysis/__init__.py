"""Statistics of series [configuration, ...]: errors, fits, model averages, variational method, scales.

    from plaq.lqcd import analysis
    pion = analysis.fit_correlator("pion", series, first=6)     # series [configuration, t]
    print(pion["mass"], pion.quality)

Nothing here needs a lattice, a run or a compiled kernel.
"""

from plaq.lazy import lazily

__all__, __getattr__, __dir__ = lazily(__name__, {
    "average": "averages", "gamma_errors": "averages",
    "weights": "fits", "quality": "fits",
})
