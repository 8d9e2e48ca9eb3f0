"""Stored configurations, transformed to Landau or Coulomb gauge: the command ``plaq lqcd fix``."""

from __future__ import annotations

from pathlib import Path

from plaq.errors import InputError
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_formats import head_of, read_gauge
from plaq.lqcd.files.ildg import write_ildg


def fix_file(path: str | Path, out: str | Path, gauge: str = "landau", tolerance: float = 1e-12,
             relaxation: float = 1.7, sweeps: int = 10_000) -> str:
    """Write the configuration in a file in a gauge to another file, in ILDG's format; return a sentence.

    The record xlf-info of the new file has the gauge, functional and theta of `GaugeField.fix`. InputError where the
    files are the same, or the lattice is unknown. Collective.
    """
    path, out = Path(path), Path(out)
    if out.exists() and out.samefile(path):
        raise InputError(f"{out}: is the configuration itself; give another file with --out")
    extents = head_of(path).extents
    if extents is None:
        raise InputError(f"{path}: does not state its lattice")
    field = read_gauge(path, Lattice(extents))
    quality = field.fix(gauge, tolerance, relaxation=relaxation, sweeps=sweeps)
    write_ildg(out, field, notes={"gauge": gauge, "functional": f"{quality.functional:.14f}",
                                  "theta": f"{quality.theta:.3e}"})
    return (f"{out}: {gauge} gauge, functional {quality.functional:.10f}, theta {quality.theta:.2g} after "
            f"{quality.sweeps} sweeps")
