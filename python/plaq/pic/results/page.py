"""``report.html`` of a run of ``plaq pic``: energies, conservation, fields, densities, phase space, ranks."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data import page, results_file
from plaq.data.formatting import format_duration
from plaq.files.atomic import write_atomically
from plaq.pic.inputs.table import PROGRAM
from plaq.pic.results import figures
from plaq.pic.results.animation import animation, is_animated
from plaq.pic.results.results import FORMAT, Results, read_results
from plaq.trace.session import region

SHOWN = 3  # fields, those with the most energy


@region("report")
def write_report(folder: Path) -> Path:
    """Write the report from a run's ``results.h5`` and return its path. InputError where that is not valid."""
    results, toml, header = read_results(folder / "results.h5")
    path = folder / "report.html"
    write_atomically(path,
                     report_html(results, toml, header, results_file.digest_of(folder / "results.h5", FORMAT)).encode())
    return path


def report_html(results: Results, toml: str, header: dict[str, Any], digest: str) -> str:
    """Return the page as HTML."""
    first, *more = results.answers()
    parts = [
        f'<p class="over">{PROGRAM} · {escape(str(header.get("grid", "")))} · '
        f'{escape(str(header.get("units", "")))}</p>',
        f"<h1>{page.markup(first)}</h1>",
        *(f'<p class="sentence">{page.markup(sentence)}.</p>' for sentence in more),
        '<div class="figures">', *all_figures(results), "</div>",
        "<h2>Results</h2>",
        page.table(("result", "shape", "unit", "formula"), rows(results), "plain"),
        '<p class="note">All results are in results.h5, in recorded/. W = n_0 (c/ω_p)^D.</p>',
        "<h2>Run</h2>",
        page.rows([*header.items(), *((f"time: {part}", format_duration(s)) for part, s in results.seconds.items()),
                   *balances(results), ("digest of the results", digest)]),
        page.collapsible("The input, with every key resolved", f"<pre>{escape(toml)}</pre>"),
    ]
    return page.frame(escape(f"{PROGRAM} · {first}"), parts)


def rows(results: Results) -> list[tuple[str, str, str, str]]:
    """Return name, shape, unit and formula of all records."""
    return [(name, " x ".join(f"{axis.name}: {axis.size}" for axis in recorded.axes), recorded.unit,
             recorded.convention) for name, recorded in results.recorded.items()]


def balances(results: Results) -> list[tuple[str, str]]:
    """Return a row on the patches that moved between ranks, if any did."""
    moves = [move for move in results.history.get("moves", []) if move["moved"]]
    if not moves:
        return []
    last = moves[-1]
    return [("patches moved", f"{len(moves)} times; the last time, at step {last['step']}, {int(last['moved'])} "
             f"of them: the rank with the most work had {1 + last['before']:.3g} times the mean, "
             f"{1 + last['predicted']:.3g} as planned, at least {1 + last['floor']:.3g}")]


def all_figures(results: Results) -> list[str]:
    """Return all figures as HTML."""
    recorded = results.recorded
    out = []
    if np.any(results.field_energy) or np.any(results.kinetic_energy):
        out.append(page.figure(figures.energies(results), "Energy", "Of the fields and of each species, W m_e c².",
                                 False))
    words = ["Change of the total energy since the first step."] * results.is_closed
    words += ["Largest residual of Gauss's law in any cell."] * ("gauss" in recorded)
    if words:
        out.append(page.figure(figures.conservation(results), "Conservation", " ".join(words), False))
    if not results.is_closed:
        out.append(page.figure(figures.through_sides(results), "Plates and sides",
                                 "Weight that came from plates and left by each side, per time.", False))
    shown = [name for name in recorded if name.startswith("picture_density_") and np.any(recorded[name].values)]
    out += [picture(recorded[name], f"Density of {name.removeprefix('picture_density_')}") for name in shown]
    if "picture_phi" in recorded:
        out.append(picture(recorded["picture_phi"], "Potential φ"))
    energy = {name: float(np.sum(recorded[name].values**2)) for name in recorded
              if re.fullmatch("picture_[eb][xyz]", name)}
    strongest = sorted(energy, key=lambda name: -energy[name])[:SHOWN]
    out += [picture(recorded[name], f"{name[8].upper()}_{name[9]}") for name in strongest
              if energy[name] > 1e-12 * max(energy.values())]
    for name, record in recorded.items():
        if name.startswith("histogram_"):
            out.append(page.figure(figures.histogram(record), name.removeprefix("histogram_"), record.convention,
                                     len(record.axes) == 3))
        if name.startswith("probe_") and len(record.axis("time")) > 2:
            out.append(page.figure(figures.probe(record), name.removeprefix("probe_"), record.convention, False))
            if len(record.axes) == 2 and np.ptp(record.values) > 1e-12 * np.abs(record.values).max():  # else no waves
                out.append(page.figure(figures.omega_k(record), f"ω(k) of {name.removeprefix('probe_')}",
                                         "Power of the line in wave number and frequency; dashed: "
                                         "light in vacuum.", False))
    if np.any(results.history["homes"]):  # not all on the first rank
        out.append(page.figure(figures.homes(results.history["homes"]), "Ranks",
                                 "The rank that each patch was on at the end.", False))
    return out


def picture(recorded: Any, title: str) -> str:
    """Return an animation of many times, or few pictures side by side, as HTML."""
    if is_animated(recorded):
        return animation(recorded, title)
    return page.figure(figures.pictures(recorded), title,
                       f"In {recorded.unit or 'normalised units'}; {recorded.convention}.", len(recorded.axes) == 3)
