"""The figure of entropy and specific heat against temperature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from plaq.data.display import Drawing
from plaq.data.figures import Theme, subplots
from plaq.dca.results.plot import log_temperature, words

if TYPE_CHECKING:
    from plaq.dca.results.thermodynamics import Thermodynamics

SIZE = (5.2, 4.8)
CAPTION = ("Per site, by integration from T = ∞. Bars are standard errors, bands the estimated error from the finite "
           "number of temperatures.")


def drawing(found: Thermodynamics) -> Drawing:
    """Return the figure, not drawn yet."""
    note = f" {found.missing[0].upper()}{found.missing[1:]}." if found.missing else ""
    return Drawing(lambda theme: draw(found, theme), "Entropy and specific heat", CAPTION + note)


def draw(found: Thermodynamics, theme: Theme) -> Figure:
    figure, panels = subplots(2, 1, figsize=SIZE, sharex=True)
    unit = found["entropy"].axes[0].unit
    for axes, name, colour in zip(panels, ("entropy", "specific_heat"), theme.series):
        e, width = found[name], found.uncertainty[name]
        axes.fill_between(found.T, e.mean - width, e.mean + width, color=colour, alpha=0.25, lw=0)
        axes.errorbar(found.T, e.mean, np.where(np.isfinite(e.error), e.error, 0), fmt="o-", color=colour)
        log_temperature(axes, found.T, unit)
        axes.set_ylabel(words(name))
    panels[0].set(ylim=(min(0.0, float(found["entropy"].mean.min())), None), xlabel="")
    return figure
