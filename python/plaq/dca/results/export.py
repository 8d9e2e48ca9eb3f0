"""Results for other programs: G and Σ as TRIQS reads them, and everything up to two axes as CSV.

TRIQS layout (as TRIQS 3.2 writes it; 3.0 and later read it): group ``T_<T>/G_iw`` with attribute Format =
"BlockGf", its ``block_names`` (Format "List") and one group per cluster momentum, Format "Gf", of ``data`` [w, 1,
1, (re, im)] with attribute __complex__ = "1" and ``mesh`` (Format "MeshImFreq": beta, statistic, size,
positive_freq_only). Block "K0" belongs to row 0 of ``momenta``; the blocks hold for either spin. Sigma_iw has the
Hartree term in it. ``transitions/0_T_c`` and so on have numbers and texts of each order that was looked for, nan
where there is no number.
"""

from __future__ import annotations

import io
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from plaq.data.tables import columns, entries, to_csv, write_files
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.matsubara import mesh
from plaq.dca.lattice.model import lattice_of
from plaq.dca.parameters import Parameters
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.results.file import read_results
from plaq.dca.results.results import Results
from plaq.errors import RunError

MOST_FREQUENCIES = 1024
ORDERS = ("q_x", "q_y", "symbol", "order", "channel", "irrep", "status", "value", "error", "method", "sentence")
TRANSFERS = ("T", "q_x", "q_y", "m")


def export(folder: Path, out: Path, more: Mapping[str, str] = {}) -> list[Path]:
    """Write ``triqs.h5``, one CSV file per observable of a run folder, and ``more`` into ``out``; the paths."""
    results, toml, _ = read_results(folder / "results.h5", functions=False)
    parameters = Parameters("input", **tomllib.loads(toml))
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        write_triqs(file, results, parameters)
    files = {"triqs.h5": image.getvalue(), "scalars.csv": to_csv(scalars(results)),
             "transitions.csv": to_csv(transitions(results), ORDERS),
             "momenta.csv": to_csv(by_momentum(results), TRANSFERS),
             "thermodynamics.csv": to_csv(results.thermodynamics.rows(), ("T",))}
    for name in dict.fromkeys(
        name for point in results.points for name, e in point.observables.items() if e.mean.ndim
    ):
        if all(point[name].mean.ndim <= 2 for point in results.points if name in point):
            files[f"{name}.csv"] = to_csv(table(results, name))
    return write_files(out, files | more)


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
        grid = mesh(point.beta, cutoff(parameters, lattice_of(parameters), point.T))
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


def scalars(results: Results) -> list[dict[str, Any]]:
    """Return a row for each temperature: T, beta, and mean and error of every scalar, mu first."""
    rows = []
    for p in results.points:
        rows.append({"T": p.T, "beta": p.beta, "mu": p.mu, "mu_error": None, **columns(p.observables)})
    return rows


def transitions(results: Results) -> list[dict[str, Any]]:
    """Return a row for each order that was looked for, T_c first; value and error are None where it was not found."""
    rows = []
    for order in results.instabilities():
        plain = order.plain()
        rows.append(dict(zip(ORDERS, [*plain["q"], *(plain[name] for name in ORDERS[2:])])))
    return rows


def by_momentum(results: Results) -> list[dict[str, Any]]:
    """Return a row for each temperature and transfer: susceptibilities, structure factors, eigenvalues; q in pi/a."""
    rows = []
    for point in results.points:
        for row in responses(point):
            rows.append(dict(zip(TRANSFERS, [point.T, *(row.q / np.pi).tolist(), row.m])) | columns(row.values))
    return rows


def table(results: Results, name: str) -> list[dict[str, Any]]:
    """Return a row for each temperature and entry of an array: T, the axes, value and error."""
    return [{"T": point.T, **row} for point in results.points if name in point for row in entries(point[name])]
