"""``report.html`` of a run of ``plaq pic``: energies, conservation, fields and densities, phase space,
who had what."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data import page, results_file
from plaq.data.formatting import format_duration
from plaq.files.atomic import write_atomically
from plaq.pic import figures
from plaq.pic.animation import animation, is_animated
from plaq.pic.results import FORMAT, Results, read_results
from plaq.pic.table import PROGRAM
from plaq.trace.session import region

SHOWN = 3  # fields, those with the most energy


@region("report")
def write_report(folder: Path) -> Path:
    """From the ``results.h5`` of a run's folder; its path. InputError when that is none."""
    results, toml, header = read_results(folder / "results.h5")
    path = folder / "report.html"
    write_atomically(path,
                     whole(results, toml, header, results_file.digest_of(folder / "results.h5", FORMAT)).encode())
    return path


def whole(results: Results, toml: str, header: dict[str, Any], digest: str) -> str:
    """The page as HTML."""
    first, *more = results.answers()
    parts = [
        f'<p class="over">{PROGRAM} · {escape(str(header.get("grid", "")))} · '
        f'{escape(str(header.get("units", "")))}</p>',
        f"<h1>{page.markup(first)}</h1>",
        *(f'<p class="sentence">{page.markup(sentence)}.</p>' for sentence in more),
        '<div class="figures">', *drawn(results), "</div>",
        "<h2>Results</h2>",
        page.table(("result", "shape", "unit", "what"), rows(results), "plain"),
        '<p class="note">All of them are in results.h5, in recorded/. W = n_0 (c/ω_p)^D.</p>',
        "<h2>How it ran</h2>",
        page.rows([*header.items(), *((f"time: {part}", format_duration(s)) for part, s in results.seconds.items()),
                   *balances(results), ("digest of the results", digest)]),
        page.collapsible("The input, with every key resolved", f"<pre>{escape(toml)}</pre>"),
    ]
    return page.frame(escape(f"{PROGRAM} · {first}"), parts)


def rows(results: Results) -> list[tuple[str, str, str, str]]:
    return [(name, " x ".join(f"{axis.name}: {axis.size}" for axis in one.axes), one.unit, one.convention)
            for name, one in results.recorded.items()]


def balances(results: Results) -> list[tuple[str, str]]:
    moves = [move for move in results.history.get("moves", []) if move["moved"]]
    if not moves:
        return []
    last = moves[-1]
    return [("patches moved", f"{len(moves)} times; the last time, at step {last['step']}, {int(last['moved'])} "
             f"of them: the rank with most work had {1 + last['before']:.3g} times the mean, "
             f"{1 + last['predicted']:.3g} as planned, at least {1 + last['floor']:.3g}")]


def drawn(results: Results) -> list[str]:
    """All figures, HTML."""
    recorded = results.recorded
    found = []
    if np.any(results.field_energy) or np.any(results.kinetic_energy):
        found.append(page.figure(figures.energies(results), "Energy", "Of the fields and of each species, W m_e c².",
                                 False))
    words = ["Change of the total energy since the first step."] * results.is_closed
    words += ["Largest residual of Gauss's law in any cell."] * ("gauss" in recorded)
    if words:
        found.append(page.figure(figures.conservation(results), "Conservation", " ".join(words), False))
    if not results.is_closed:
        found.append(page.figure(figures.through_sides(results), "Plates and sides",
                                 "Weight that came from plates and left by each side, per time.", False))
    shown = [name for name in recorded if name.startswith("picture_density_") and np.any(recorded[name].values)]
    found += [picture(recorded[name], f"Density of {name.removeprefix('picture_density_')}") for name in shown]
    if "picture_phi" in recorded:
        found.append(picture(recorded["picture_phi"], "Potential φ"))
    energy = {name: float(np.sum(recorded[name].values**2)) for name in recorded
              if re.fullmatch("picture_[eb][xyz]", name)}
    strongest = sorted(energy, key=lambda name: -energy[name])[:SHOWN]
    found += [picture(recorded[name], f"{name[8].upper()}_{name[9]}") for name in strongest
              if energy[name] > 1e-12 * max(energy.values())]
    for name, one in recorded.items():
        if name.startswith("histogram_"):
            found.append(page.figure(figures.histogram(one), name.removeprefix("histogram_"), one.convention,
                                     len(one.axes) == 3))
        if name.startswith("probe_") and len(one.axis("time")) > 2:
            found.append(page.figure(figures.probe(one), name.removeprefix("probe_"), one.convention, False))
            if len(one.axes) == 2 and np.ptp(one.values) > 1e-12 * np.abs(one.values).max():  # else there are no waves
                found.append(page.figure(figures.omega_k(one), f"ω(k) of {name.removeprefix('probe_')}",
                                         "Power of the line in wave number and frequency; dashed: "
                                         "light in vacuum.", False))
    if np.any(results.history["homes"]):  # not all on the first
        found.append(page.figure(figures.homes(results.history["homes"]), "Ranks",
                                 "The rank that each patch was on at the end.", False))
    return found


def picture(one: Any, title: str) -> str:
    """Of many times an animation, of few side by side."""
    if is_animated(one):
        return animation(one, title)
    return page.figure(figures.pictures(one), title, f"In {one.unit or 'normalised units'}; {one.convention}.",
                       len(one.axes) == 3)
