"""The tables of ``report.html``."""

from __future__ import annotations

from html import escape

from plaq.data.formatting import format_duration, format_number, momentum
from plaq.data.page import cell, collapsible, table
from plaq.dca.physics import checks
from plaq.dca.physics.response import responses
from plaq.dca.results.plot import words
from plaq.dca.results.results import Results
from plaq.dca.results.thermodynamics import Thermodynamics
from plaq.dca.units import measured, over

# Column of the table of results: observable, heading; of energies without their unit.
COLUMNS = {
    "density": "n",
    "magnetisation": "m",
    "order_parameter": "order",
    "double_occupancy": "D",
    "energy_kinetic": "E<sub>kin</sub>",
    "energy_potential": "E<sub>pot</sub>",
    "energy": "E",
    "sign": "sign",
    "expansion_order": "⟨k⟩",
    "lambda_d": "λ<sub>d</sub>",
    "lambda_s": "λ<sub>s</sub>",
    "lambda_p": "λ<sub>p</sub>",
}

# Of the table of responses.
RESPONSES = {
    "spin_susceptibility": "χ<sub>s</sub>",
    "charge_susceptibility": "χ<sub>c</sub>",
    "spin_structure_factor": "S<sub>s</sub>",
    "charge_structure_factor": "S<sub>c</sub>",
    "lambda_pp": "λ<sub>pp</sub>",
    "lambda_magnetic": "λ<sub>magnetic</sub>",
    "lambda_charge": "λ<sub>charge</sub>",
    "lambda_transverse": "λ<sub>transverse</sub>",
}


NEGLIGIBLE = 1e-6  # of an entropy


def heading(name: str, unit: str) -> str:
    """Return the heading of the column of an observable or a response, in this unit of energy."""
    head = {**COLUMNS, **RESPONSES}[name]
    if name.startswith("energy"):
        return over(head, unit)
    return measured(head, unit) if name.endswith("susceptibility") else head


def order_table(results: Results) -> str:
    """Return the table of orders that were looked for, with the results."""
    orders = results.instabilities()
    if not orders:
        return ""
    body = [(o.name, o.sentence, o.channel, momentum(o.q), o.irrep) for o in orders]
    return "<h2>Orders</h2>" + table(("order", "found", "channel", "q", "irrep"), body, "orders")


def momentum_table(results: Results) -> str:
    """Return susceptibilities, structure factors and eigenvalues of channels by temperature and momentum transfer."""
    rows = [(point, row) for point in results.points for row in responses(point)]
    names = [name for name in RESPONSES if any(name in row.values for _, row in rows)]
    if not rows:
        return ""
    body = ((f"{point.T:g}", str(row), *(str(row.values.get(name, "")) for name in names)) for point, row in rows)
    head = [over("T", results.unit), "q", *(heading(name, results.unit) for name in names)]
    return (f"<h2>Spin and charge by momentum</h2>{table(head, body)}"
            '<p class="note">χ: static susceptibility, S: equal-time structure factor, of the cluster at '
            "q; λ: leading eigenvalue of Γχ̄<sub>0</sub> of the lattice at q. Order sets in where a λ at "
            "frequency 0 reaches 1.</p>")


def point_table(results: Results, target: float | None = None) -> str:
    """Return the scalars by temperature, beside failed checks; ``target`` is the density that was asked for."""
    columns = [name for name in COLUMNS if any(name in point for point in results.points)]
    body = [[f"{point.T:g}", str(point["mu"]) if "mu" in point else format_number(point.mu, ".5f"),
             *(str(point[name]) if name in point else "" for name in columns),
             f"{point.measurements:,}".replace(",", " ") if point.measurements else "exact"]
            for point in results.points]
    unit = results.unit
    head = [over("T", unit), over("μ", unit), *(heading(name, unit) for name in columns), "measurements"]
    warnings = ["; ".join(checks.warnings(point, target)) for point in results.points]
    if any(warnings):
        head.insert(1, "warnings")
        body = [[T, text, *cells] for (T, *cells), text in zip(body, warnings)]
    return table(head, body, "doubts" if any(warnings) else "", doubtful=[i for i, text in enumerate(warnings) if text])


def thermodynamics_table(found: Thermodynamics) -> str:
    """Return entropy, specific heat and so on by temperature; empty where there are fewer than two."""
    if len(found.T) < 2:
        return ""
    note = f'<p class="note">{escape(found.missing[0].upper() + found.missing[1:])}.</p>' if found.missing else ""
    if not found.estimates:
        return f"<h2>Thermodynamics</h2>{note}"
    unit = found["entropy"].axes[0].unit
    heads = {"entropy": "s", "specific_heat": "c", "free_energy": over("f", unit), "compressibility": "dn/dμ"}
    names = [name for name in heads if name in found]
    cells = [[str(found[name][i]) + uncertain(found, name, i) for name in names] for i in range(len(found.T))]
    return ("<h2>Thermodynamics</h2>"
            + table([over("T", unit), *(heads[name] for name in names)],
                    [[f"{T:g}", *row] for T, row in zip(found.T, cells)])
            + f'<p class="note">Per site at fixed {"density" if found.fixed == "density" else "μ"}, by integration '
              "from T = ∞. Behind ±: the estimated error from the finite number of temperatures, where it is above a "
              f"tenth of the standard error.</p>{note}")


def uncertain(found: Thermodynamics, name: str, i: int) -> str:
    """Return " ± 0.003", the error from the finite number of temperatures, where it counts."""
    width = found.uncertainty[name][i] if name in found.uncertainty else 0.0
    return f" ± {width:.1g}" if width > 0.1 * found[name].error[i] and width > NEGLIGIBLE else ""


# Of the table of orbitals.
OF_ORBITALS = {"density_orbital": "n", "magnetisation_orbital": "m", "double_occupancy_orbital": "D"}


def orbital_table(results: Results) -> str:
    """Return electrons, magnetisation and double occupancy of each orbital by temperature; empty with one orbital."""
    points = [point for point in results.points if "density_orbital" in point]
    if not points:
        return ""
    names = [name for name in OF_ORBITALS if name in points[0]]
    body = [[f"{point.T:g}", orbital, *(str(point[name].pick(orbital=i)) for name in names)]
            for point in points for i, orbital in enumerate(point["density_orbital"].axes[0].values)]
    return ("<h2>Orbitals</h2>" + table((over("T", results.unit), "orbital", *(OF_ORBITALS[name] for name in names)),
                                        body)
            + '<p class="note">n: electrons of both spins; m: ⟨S<sup>z</sup>⟩; D: ⟨n<sub>↑</sub>n<sub>↓</sub>⟩.</p>')


def check_table(results: Results) -> str:
    """Return the checks of the run by temperature."""
    points = [point for point in results.points if "order_identity" in point]
    if not points:
        return ""
    body, failed = [], set()
    for i, point in enumerate(points):
        last = point.history[-1] if point.history else {}
        deviation = checks.deviation(point)
        if checks.violated(point):
            failed.add(i)
        verdict = "FAILS" if i in failed else "not known" if deviation is None else "holds"
        body.append((f"{point.T:g}", str(point["order_identity"]), format_number(deviation, "+.1f"),
                     format_number(last.get("drift"), ".1e"), format_number(last.get("acceptance"), ".3f"), verdict))
    return (
        "<h2>Checks</h2>"
        + table((over("T", results.unit), "⟨k⟩ − exact", "in σ", "drift", "acceptance", "verdict"), body, failed=failed)
        + f'<p class="note">{IDENTITY[is_general(results)]} holds exactly in every bath, so the '
        "difference must be 0 within its error. Drift is the largest change of an element of the walker’s matrix "
        "when it is recomputed, that is, the accumulated rounding error.</p>"
    )


IDENTITY = {False: "⟨k⟩ = K + βU N<sub>c</sub> (n/2 − D)",
            True: "⟨k⟩ = −β N<sub>c</sub> ⟨H<sub>int</sub>⟩ per cell, in the form that is expanded,"}


def is_general(results: Results) -> bool:
    """Return whether the results are those of a general model, solved by CT-INT."""
    return any("density_pairs" in point for point in results.points)


def history_table(point, unit: str) -> str:
    """Return the iterations of one temperature, collapsed."""
    names = [name for name in point.history[0] if name not in ("T", "seconds")]
    body = [[*(cell(record.get(name)) for name in names), format_duration(sum((record.get("seconds") or {}).values()))]
            for record in point.history]
    head = [escape(words(name)) for name in [*names, "time"]]
    return collapsible(f"Iterations at T = {measured(f'{point.T:g}', unit)}", table(head, body))
