"""``report.html``: a run on one page, in one file that needs no network."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate, with_error
from plaq.data.formatting import format_duration
from plaq.data.page import collapsible, frame, markup, rows
from plaq.dca.lattice.interaction import Torus
from plaq.dca.lattice.model import cluster_of
from plaq.dca.lattice.picture import drawing
from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.dca.results.advice import advice
from plaq.dca.results.file import StoredRun
from plaq.dca.results.plot import drawings, words
from plaq.dca.results.report_tables import (
    check_table,
    history_table,
    momentum_table,
    orbital_table,
    order_table,
    point_table,
    thermodynamics_table,
)
from plaq.dca.results.results import Results
from plaq.dca.units import measured, strength
from plaq.files.atomic import write_atomically
from plaq.trace.session import region

BIAS_LIMIT = 0.5  # errors: a larger bias is reported
ROUNDING = 1e-9  # error below which there is no noise


@region("report")
def write_report(folder: Path, run: StoredRun, more: str = "") -> Path:
    """Write ``report.html`` of a run into its folder; return its path. ``more`` is HTML below the results."""
    path = folder / "report.html"
    write_atomically(path, page(run.results, run.parameters, run.header, run.digest.split()[0], more).encode())
    return path


def page(results: Results, parameters: Parameters, header: dict[str, Any], digest: str, more: str = "") -> str:
    """Return the whole page as HTML."""
    title = escape(f"plaq dca · U = {strength(parameters.model, parameters.unit)} · {filling(parameters)}")
    parts = [
        f'<p class="over">plaq dca · {escape(model_in_words(parameters))}</p>',
        f"<h1>{headline(results)}</h1>",
        f'<p class="sentence">{markup(sentence(results))}</p>',
        warnings(results, parameters),
        f'<p class="advice"><b>Next.</b> {markup(" ".join(advice(results, parameters)))}</p>',
        facts(results, parameters),
        figures(results),
        "<h2>Results by temperature</h2>",
        point_table(results, parameters.dca.density),
        '<p class="note">Numbers in brackets are standard errors in units of the last digits; (?) marks one '
        f"that the data cannot support. All energies and temperatures are in {units_in_words(parameters)}"
        f"{per_cell(parameters)}.</p>",
        notes(results),
        orbital_table(results),
        order_table(results),
        momentum_table(results),
        thermodynamics_table(results.thermodynamics),
        check_table(results),
        more,
        "<h2>How it ran</h2>",
        rows(
            [*header.items(), ("time", format_duration(sum(results.seconds.values()))),
             *((f"time: {part}", format_duration(seconds)) for part, seconds in results.seconds.items()),
             ("digest of the results", digest)]
        ),
        *(history_table(point, results.unit) for point in results.points if point.history),
        model_picture(parameters),
        collapsible("The input, with every key resolved", f"<pre>{escape(parameters.to_toml())}</pre>"),
    ]
    return frame(title, parts)


def model_picture(p: Parameters) -> str:
    """Return cluster, momenta and bands, or the density of states, which open on a click."""
    drawn = drawing(cluster_of(p), p.dca.mu, p.unit)
    return collapsible(drawn.title, drawn.html())


def headline(results: Results) -> str:
    """Return T_c and other transitions that were found, or the temperatures of the run."""
    orders = results.instabilities()
    texts = []
    for order in orders:
        if order.status == "found":  # two channels may have the same order, and noise may tell them apart
            T = with_error(order.transition.value, order.transition.error)
            channel = f" ({order.channel})" if sum(o.symbol == order.symbol for o in orders) > 1 else ""
            texts.append(f"{order.symbol} = {measured(T, results.unit)}{channel}")
    onset = results.onset
    if onset is not None and onset.value is not None:
        texts.insert(0, f"{onset.symbol} = {measured(with_error(onset.value, onset.error), results.unit)}")
    if texts:
        return markup(", ".join(texts))
    if results.tc["status"] == "bound":
        return "T<sub>c</sub> is outside the temperatures of this run"
    coldest = min(results.points, key=lambda point: point.T, default=None)
    return (
        "No temperature is finished"
        if coldest is None
        else f"{len(results.points)} temperature{'s' if len(results.points) > 1 else ''}, down to "
             f"T = {measured(f'{coldest.T:g}', results.unit)}"
    )


def sentence(results: Results) -> str:
    """Return T_c in words, and other transitions that were found; the table of orders has the rest."""
    orders = results.instabilities()
    texts = [results.answers()[0]]
    texts += [f"{order.name}: {order.sentence}" for order in orders[1:] if order.status == "found"]
    return " ".join((text if text.startswith("lambda") else text[0].upper() + text[1:]) + "." for text in texts)


def warnings(results: Results, p: Parameters) -> str:
    """Return the failed checks as a paragraph; empty where all hold."""
    texts = results.warnings(p.dca.density)
    return f'<p class="doubt"><b>Warnings.</b> {escape("; ".join(texts))}.</p>' if texts else ""


def model_in_words(p: Parameters) -> str:
    """Return lattice, orbitals, further interactions and the cluster."""
    vectors = ", ".join(f"({','.join(map(str, vector))})" for vector in p.model.cluster)
    cluster = f"{'isolated ' if p.dca.isolated else ''}cluster {vectors}"
    return ", ".join(["Hubbard model", *(general_in_words(p) if p.is_general else [hopping_in_words(p)]), cluster])


def hopping_in_words(p: Parameters) -> str:
    return "hopping table" if p.model.hopping else f"t′ = {measured(f'{p.model.t_prime:g}', p.unit)}"


def general_in_words(p: Parameters) -> list[str]:
    """Return lattice, orbitals and couplings of a general model that the input names."""
    model, orbitals = p.model, p.hamiltonian.orbitals
    lattice = f"{model.lattice.replace('_', '-')} lattice" if model.lattice else hopping_in_words(p)
    couplings = {"J": model.J, "U′": model.U_prime, "h": model.field, "h_stagg": model.staggered_field}
    values = [f"{name} = {measured(f'{value:g}', p.unit)}" for name, value in couplings.items()
              if isinstance(value, float)]
    return [lattice, *([f"orbitals {' '.join(orbitals)}"] if len(orbitals) > 1 else []), *values,
            *(["fields by orbital"] if model.field and not isinstance(model.field, float) else []),
            *([p.hamiltonian.order.in_words] if p.hamiltonian.order else []),
            *(["V between sites"] if model.V else []), *(["spin flip and pair hopping"] if model.kanamori else [])]


def per_cell(p: Parameters) -> str:
    """Return that numbers are per cell, where a cell has several orbitals."""
    return "; n, D and energies are those of a cell" if len(p.hamiltonian.orbitals) > 1 else ""


def units_in_words(p: Parameters) -> str:
    if p.unit:
        return f"units of {p.unit}"
    return "the unit of " + ("the hopping table" if p.model.hopping else f"t = {p.model.t:g}")


def filling(p: Parameters) -> str:
    return f"n = {p.dca.density:g}" if p.dca.density is not None else f"μ = {measured(f'{p.dca.mu:g}', p.unit)}"


def facts(results: Results, p: Parameters) -> str:
    """Return the boxes below the headline."""
    cells, orbitals = abs(Torus(p.hamiltonian.vectors).size), len(p.hamiltonian.orbitals)
    sizes = [("sites", str(cells))] if orbitals == 1 else [("cells", str(cells)), ("orbitals in a cell", str(orbitals))]
    entries = [("U", strength(p.model, p.unit)), tuple(filling(p).split(" = ")), *sizes]
    off = ""
    if results.points:
        coldest = min(results.points, key=lambda point: point.T)
        entries.append(("lowest T", measured(f"{coldest.T:g}", p.unit)))
        named = {"order_parameter": "order parameter", "density": "n", "sign": "sign",
                 results.pairing: results.pairing.replace("lambda", "λ")}
        entries += [(f"{name} there", str(coldest[key])) for key, name in named.items() if key in coldest]
        entries += [(f"{order.label} there", str(coldest[order.observable]))
                    for order in results.instabilities() if order.symbol == "T_N" and order.observable in coldest]
        if checks.density_is_off(coldest, p.dca.density):
            off = "n there"
    counted = [point.measurements for point in results.points if point.measurements]
    entries += [("measurements", f"{sum(counted):,}".replace(",", " "))] if counted else []
    entries.append(("time", format_duration(sum(results.seconds.values()))))
    boxes = "".join(f"<div{' class=off' if name == off else ''}><dt>{markup(name)}</dt><dd>{escape(value)}</dd></div>"
                    for name, value in entries)
    return f'<dl class="facts">{boxes}</dl>'


def figures(results: Results) -> str:
    shown = "".join(drawing.html() for drawing in drawings(results).values())
    return f'<div class="figures">{shown}</div>'


def size_of_bias(e: Estimate) -> float:
    """Return the root mean square of bias over error; 0 where it is not known."""
    if e.bias is None or not e.supported:
        return 0.0
    bias, error = (np.stack([x.real, x.imag]) for x in (np.asarray(e.bias), e.error))
    noisy = error > ROUNDING
    return float(np.sqrt(np.mean((bias[noisy] / error[noisy]) ** 2))) if noisy.any() else 0.0


def notes(results: Results) -> str:
    """Return the notes of the statistics on error bars."""
    lines = []
    for point in results.points:
        for note in dict.fromkeys(estimate.note for estimate in point.observables.values() if estimate.note):
            names = [words(name) for name, estimate in point.observables.items() if estimate.note == note]
            lines.append(f"T = {point.T:g}, {', '.join(names[:4])}{', …' if len(names) > 4 else ''}: {note}")
        for name, e in point.observables.items():
            if (size := size_of_bias(e)) > BIAS_LIMIT:
                lines.append(f"T = {point.T:g}, {words(name)}: bias of {size:.1f} errors, by jackknife: measure more")
    if not lines:
        return ""
    return collapsible("Error bars to read with care", f"<pre>{escape(chr(10).join(lines))}</pre>", " open")
