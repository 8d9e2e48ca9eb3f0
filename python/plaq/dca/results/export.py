"""Results for other programs: G and Σ as TRIQS reads them, and everything up to two axes as CSV.

TRIQS layout (as TRIQS 3.2 writes it; 3.0 and later read it): group ``T_<T>/G_iw`` with attribute Format =
"BlockGf", its ``block_names`` (Format "List") and one group per cluster momentum, Format "Gf", of ``data`` [w, 1,
1, (re, im)] with attribute __complex__ = "1" and ``mesh`` (Format "MeshImFreq": beta, statistic, size,
positive_freq_only). Block "K0" belongs to row 0 of ``momenta``; the blocks hold for either spin. Sigma_iw has the
Hartree term in it. ``transitions/0_T_c`` and so on have numbers and texts of each order that was looked for, nan
where there is no number.
"""

from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path

import h5py
import numpy as np

from plaq.data.estimate import Estimate
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matsubara import mesh
from plaq.dca.parameters import Parameters
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.results.file import read_results
from plaq.dca.results.results import Results
from plaq.errors import RunError
from plaq.files.atomic import cannot_write, write_atomically

MOST_FREQUENCIES = 1024


def export(folder: Path, out: Path) -> list[Path]:
    """Write ``triqs.h5`` and one CSV file per observable of a run folder into ``out``; the paths."""
    results, toml, _ = read_results(folder / "results.h5", functions=False)
    parameters = Parameters("input", **tomllib.loads(toml))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(cannot_write(out, error)) from error
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        write_triqs(file, results, parameters)
    files = {"triqs.h5": image.getvalue(), "scalars.csv": scalars(results).encode(),
             "transitions.csv": transitions(results).encode(), "momenta.csv": by_momentum(results).encode()}
    for name in dict.fromkeys(
        name for point in results.points for name, e in point.observables.items() if e.mean.ndim
    ):
        if all(point[name].mean.ndim <= 2 for point in results.points if name in point):
            files[f"{name}.csv"] = table(results, name).encode()
    for name, content in files.items():
        write_atomically(out / name, content)
    return [out / name for name in files]


def write_triqs(file: h5py.Group, results: Results, parameters: Parameters) -> None:
    """Write G and Σ of every temperature on all Matsubara frequencies of both signs; T_c and the other transitions."""
    write_transitions(file, results)
    for point in results.points:
        for name, constant in [("G", None), ("Sigma", "Sigma_infinity")]:
            if name in point:
                group = file.require_group(f"T_{point.T:g}")
                if "momenta" not in group:
                    group["momenta"] = point[name].axes[0].values
                values = dense(point, name, constant, parameters)
                write_block_gf(group.create_group(f"{name}_iw"), values, point.beta)


def write_transitions(file: h5py.Group, results: Results) -> None:
    """Write one group per order that was looked for, T_c first."""
    for i, order in enumerate(results.instabilities()):
        group = file.create_group(f"transitions/{i}_{order.symbol}")
        for name, value in order.plain().items():
            group[name] = np.nan if value is None else value


def dense(point: Point, name: str, constant: str | None, parameters: Parameters) -> np.ndarray:
    """Return f(K, iω_n) [K, 2 N] for n = -N … N - 1 from the sparse frequencies of the intermediate representation.

    The part ``constant`` [K] does not decay, so it is subtracted for the interpolation.
    """
    estimate = point[name]
    offset = np.zeros(len(estimate.mean)) if constant is None else point[constant].mean
    w = estimate.axes[1].values
    n = np.rint((w * point.beta / np.pi - 1) / 2).astype(int)
    count = min(int(n[-1]) + 1, MOST_FREQUENCIES)
    if np.array_equal(n, np.arange(len(n))):
        positive = estimate.mean[:, :count] - offset[:, None]
    else:
        grid = mesh(point.beta, cutoff(parameters, Lattice(parameters.hopping()), point.T))
        if not np.array_equal(grid.n, n):
            raise RunError(f"{name} at T = {point.T:g} is not on the sparse frequencies of this version of plaq")
        positive = grid.at_frequencies(estimate.mean - offset[:, None], np.arange(count))
    return np.concatenate([positive[:, ::-1].conj(), positive], axis=1) + offset[:, None]


def write_block_gf(group: h5py.Group, values: np.ndarray, beta: float) -> None:
    """Write a BlockGf of fermionic Matsubara functions from [K, 2 N]."""
    group.attrs["Format"] = "BlockGf"
    names = group.create_group("block_names")
    names.attrs["Format"] = "List"
    for i, row in enumerate(values):
        names[str(i)] = f"K{i}"
        block = group.create_group(f"K{i}")
        block.attrs["Format"] = "Gf"
        data = block.create_dataset("data", data=np.stack([row.real, row.imag], axis=-1)[:, None, None, :])
        data.attrs["__complex__"] = "1"
        axis = block.create_group("mesh")
        axis.attrs["Format"] = "MeshImFreq"
        axis["beta"] = float(beta)
        axis["statistic"] = "F"
        axis["size"] = np.int64(len(row))
        axis["positive_freq_only"] = np.int32(0)


def scalars(results: Results) -> str:
    """Return one row per temperature: T, beta, and mean and error of every scalar, mu first; empty where there is none.
    """
    measured = (name for p in results.points for name, e in p.observables.items() if not e.mean.ndim)
    names = list(dict.fromkeys(["mu", *measured]))
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["T", "beta", *(column for name in names for column in (name, f"{name}_error"))])
    for p in results.points:
        values = {"mu": (p.mu, "")} | {name: (p[name].mean.item(), p[name].error.item()) for name in names if name in p}
        rows.writerow([p.T, p.beta, *(cell for name in names for cell in values.get(name, ("", "")))])
    return file.getvalue()


def transitions(results: Results) -> str:
    """Return one row per order that was looked for, T_c first; value and error are empty where it was not found."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    names = ("symbol", "order", "channel", "irrep", "status", "value", "error", "method", "sentence")
    rows.writerow(["q_x", "q_y", *names])
    for order in results.instabilities():
        plain = order.plain()
        rows.writerow([*plain["q"], *(plain[name] for name in names)])
    return file.getvalue()


def by_momentum(results: Results) -> str:
    """Return one row per temperature and transfer: susceptibilities, structure factors, eigenvalues; q in pi/a."""
    rows = [(point.T, row) for point in results.points for row in responses(point)]
    names = list(dict.fromkeys(name for _, row in rows for name in row.values))
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(["T", "q_x", "q_y", "m", *(column for name in names for column in (name, f"{name}_error"))])
    for T, row in rows:
        cells = [row.values[name] if name in row.values else None for name in names]
        numbers = [x for e in cells for x in (("", "") if e is None else (e.mean.item(), e.error.item()))]
        lines.writerow([T, *(row.q / np.pi).tolist(), row.m, *numbers])
    return file.getvalue()


def table(results: Results, name: str) -> str:
    """Return one row per temperature and entry of an array: T, the axes, value and error (real and imaginary part)."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    points = [point for point in results.points if name in point]
    complex_valued = np.iscomplexobj(points[0][name].mean)
    rows.writerow(
        [
            "T",
            *axis_columns(points[0][name]),
            *(("re", "im", "re_error", "im_error") if complex_valued else ("value", "error")),
        ]
    )
    for point in points:
        e = point[name]
        for index in np.ndindex(e.mean.shape):
            where = [x for axis, i in zip(e.axes, index) for x in np.atleast_1d(axis.values[i]).tolist()]
            mean, error = e.mean[index].item(), e.error[index].item()
            both = (mean.real, mean.imag, error.real, error.imag) if complex_valued else (mean, error)
            rows.writerow([point.T, *where, *both])
    return file.getvalue()


def axis_columns(estimate: Estimate) -> list[str]:
    """Return one column for an axis of numbers, ``K_x, K_y`` for an axis of vectors."""
    return [
        name
        for axis in estimate.axes
        for name in ([axis.name] if np.ndim(axis.values) == 1 else [f"{axis.name}_x", f"{axis.name}_y"])
    ]
