"""The figures of a run by name, on pages and in notebooks."""

from __future__ import annotations

import re

import numpy as np

from plaq.data.display import Drawing
from plaq.data.recorded import Recorded
from plaq.pic.results import figures
from plaq.pic.results.animation import animate, is_animated, title_of
from plaq.pic.results.discharge import discharge_drawings
from plaq.pic.results.results import Results

SHOWN = 3  # fields, those with the most energy
TINY = 1e-12  # of the largest: nothing but rounding


def drawings(results: Results) -> dict[str, Drawing]:
    """Return figures of all that the run has recorded, of fields those with the most energy."""
    recorded = results.recorded
    found: dict[str, Drawing] = {}
    if np.any(results.field_energy) or np.any(results.kinetic_energy):
        found["energy"] = energy(results)
    words = ["Change of the total energy since the first step."] * results.is_closed
    words += ["Largest residual of Gauss's law in any cell."] * ("gauss" in recorded)
    if words:
        found["conservation"] = Drawing(figures.conservation(results), "Conservation", " ".join(words))
    if not results.is_closed:
        found["sides"] = Drawing(figures.through_sides(results), "Plates and sides",
                                 "Weight that came from plates and left by each side, per time.")
    found |= discharge_drawings(results)
    found |= {name: picture(recorded[f"picture_{name}"]) for name in shown_pictures(results)}
    for name, record in recorded.items():
        short = name.partition("_")[2]
        if name.startswith("histogram_"):
            found[short] = Drawing(figures.histogram(record), short, record.convention, len(record.axes) == 3)
        if name.startswith("mean_") and len(record.axes) in (2, 3):
            found[short] = Drawing(figures.mean(record), short, f"{record.convention}; band: standard error.")
        if name.startswith("probe_") and len(record.axis("time")) > 2:
            found[short] = Drawing(figures.probe(record), short, record.convention)
            if len(record.axes) == 2 and np.ptp(record.values) > TINY * np.abs(record.values).max():  # else no waves
                found[f"{short}_omega_k"] = Drawing(
                    figures.omega_k(record), f"ω(k) of {short}",
                    "Power of the line in wave number and frequency; dashed: light in vacuum.")
    if np.any(results.history["homes"]):  # not all on the first rank
        found["ranks"] = Drawing(figures.homes(results.history["homes"]), "Ranks",
                                 "The rank that each patch was on at the end.")
    return found


def energy(results: Results) -> Drawing:
    return Drawing(figures.energies(results), "Energy", "Of the fields and of each species, W m_e c².")


def shown_pictures(results: Results) -> list[str]:
    """Return densities, the potential, and the fields with the most energy, without the prefix of pictures."""
    recorded = results.recorded
    shown = [name for name in recorded if name.startswith("picture_density_") and np.any(recorded[name].values)]
    shown += ["picture_phi"] if "picture_phi" in recorded else []
    energies = {name: float(np.sum(recorded[name].values**2)) for name in recorded
              if re.fullmatch("picture_[eb][xyz]", name)}
    strongest = sorted(energies, key=lambda name: -energies[name])[:SHOWN]
    shown += [name for name in strongest if energies[name] > TINY * max(energies.values())]
    return [name.removeprefix("picture_") for name in shown]


def picture(recorded: Recorded) -> Drawing:
    """Return an animation of many times, or few pictures side by side."""
    if is_animated(recorded):
        return animate(recorded)
    return Drawing(figures.pictures(recorded), title_of(recorded.name),
                   f"In {recorded.unit or 'normalised units'}; {recorded.convention}.", len(recorded.axes) == 3)


def drawing(results: Results, name: str) -> Drawing:
    """Return a figure of `drawings` or of any record; KeyError with all names if there is none."""
    found = {"energy": energy(results)} | drawings(results)
    if name in found:
        return found[name]
    record = results.find(name)
    if record is None:
        raise KeyError(f"no figure or record {name!r}; there are "
                       f"{', '.join(dict.fromkeys([*found, *results.recorded]))}")
    if record.name.startswith("picture_"):
        return picture(record)
    return Drawing(figures.figure_of(record), record.name, record.convention)
