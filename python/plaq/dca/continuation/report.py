"""Part of a run's report, and its figures, that spectra make."""

from __future__ import annotations

from html import escape
from pathlib import Path

from plaq.data.page import collapsible
from plaq.dca.continuation import FILE
from plaq.dca.continuation.run_spectra import Spectra
from plaq.dca.continuation.tables import fit_table, spectrum_table


def spectra_part(folder: Path, spectra: Spectra | None) -> str:
    """Return the part of the report of a run's folder as HTML; empty without a file of spectra."""
    if not (folder / FILE).exists():
        return ""
    if spectra is None:
        return (f'<h2>Spectra</h2><p class="doubt">{FILE} is of other results than these: '
                "<code>plaq dca spectra</code> computes the spectra again.</p>")
    figures = "".join(drawing.html() for drawing in spectra.drawings().values())
    lines = "; ".join(spectra.warnings())
    doubt = f'<p class="doubt"><b>Warnings.</b> {escape(lines)}.</p>' if lines else ""
    settings = ", ".join(f"{name} {value}" for name, value in spectra.settings.items())
    return (f'<h2>Spectra</h2>{doubt}<div class="figures">{figures}</div>'
            f"<h3>Peaks and weights</h3>{spectrum_table(spectra)}"
            '<p class="note">Analytic continuation of noisy data is not unique: widths and small structures depend on '
            f"the method, and its errors are those of the noise alone. Settings: {escape(settings)}. χ² is that of the "
            "spectrum integrated back onto the data.</p>"
            + collapsible("χ² of every function and method", fit_table(spectra)))
