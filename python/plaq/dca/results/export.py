"""Results for other programs: G and Σ as TRIQS reads them, and all of them as CSV.

TRIQS layout (as TRIQS 3.2 writes it; 3.0 and later read it): group ``T_<T>/G_iw`` with attribute Format =
"BlockGf", its ``block_names`` (Format "List") and one group per cluster momentum, Format "Gf", of ``data`` [w, a,
b, (re, im)] with attribute __complex__ = "1" and ``mesh`` (Format "MeshImFreq": beta, statistic, size,
positive_freq_only). Block "K0" belongs to row 0 of ``momenta``; the blocks hold for either spin, and where spins differ
their names are "up_K0" and "down_K0". ``orbitals`` has the names of a and b. Sigma_iw has the Hartree term in it.
``transitions/0_T_c`` and so on have numbers and texts of each order that was looked for, nan
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
from plaq.dca.lattice.algebra import Matrices
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.matsubara import mesh
from plaq.dca.lattice.model import cluster_of
from plaq.dca.parameters import Parameters
from plaq.dca.physics.orbitals import SPINS
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.results.file import read_results
from plaq.dca.results.results import Results
from plaq.errors import RunError

MOST_FREQUENCIES = 1024
ORDERS = ("symbol", "order", "channel", "irrep", "status", "value", "error", "method", "sentence")
TRANSFER = ("q_x", "q_y")  # columns of a table without rows


def export(folder: Path, out: Path, more: Mapping[str, str] = {}) -> list[Path]:
    """Write ``triqs.h5``, one CSV file per observable of a run folder, and ``more`` into ``out``; the paths."""
    results, toml, _ = read_results(folder / "results.h5", functions=False)
    parameters = Parameters("input", **tomllib.loads(toml))
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        write_triqs(file, results, parameters)
    orders, momenta = transitions(results), by_momentum(results)
    files = {"triqs.h5": image.getvalue(), "scalars.csv": to_csv(scalars(results)),
             "transitions.csv": to_csv(orders, () if orders else (*TRANSFER, *ORDERS)),
             "momenta.csv": to_csv(momenta, () if momenta else ("T", *TRANSFER, "m")),
             "thermodynamics.csv": to_csv(results.thermodynamics.rows(), ("T",))}
    for name in dict.fromkeys(name for point in results.points for name, e in point.observables.items() if e.mean.ndim):
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
                    group["momenta"] = next(axis.values for axis in point[name].axes if axis.name == "K")
                    group["orbitals"] = parameters.hamiltonian.orbitals
                values = dense(point, name, constant, parameters)
                write_block_gf(group.create_group(f"{name}_iw"), values, point.beta)


def write_transitions(file: h5py.Group, results: Results) -> None:
    """Write one group per order that was looked for, T_c first."""
    for i, order in enumerate(results.instabilities()):
        group = file.create_group(f"transitions/{i}_{order.symbol}")
        for name, value in order.plain().items():
            group[name] = np.nan if value is None else value


def dense(point: Point, name: str, constant: str | None, parameters: Parameters) -> np.ndarray:
    """Return f(K, iω_n) [S, K, a, b, 2 N] for n = -N … N - 1 from the sparse frequencies of the results.

    The part ``constant`` does not decay, so it is subtracted for the interpolation, which is done cell by cell.
    """
    estimate, cluster = point[name], cluster_of(parameters)
    spins, orbitals = parameters.hamiltonian.spins, len(parameters.hamiltonian.orbitals)
    algebra, shape = Matrices(cluster, orbitals), (spins, cluster.size, orbitals, orbitals)
    offset = np.zeros((*shape, 1)) if constant is None else point[constant].mean.reshape(*shape, 1)
    w = estimate.axes[-1].values
    n = np.rint((w * point.beta / np.pi - 1) / 2).astype(int)
    count = min(int(n[-1]) + 1, MOST_FREQUENCIES)
    sparse = estimate.mean.reshape(*shape, len(w)) - offset
    if np.array_equal(n, np.arange(len(n))):
        positive = sparse[..., :count]
    else:
        grid = mesh(point.beta, cutoff(parameters, cluster.lattice, point.T))
        if not np.array_equal(grid.n, n):
            raise RunError(f"{name} at T = {point.T:g} is not on the sparse frequencies of this version of plaq")
        positive = algebra.to_momenta(grid.at_frequencies(algebra.to_cells(sparse), np.arange(count)))
    return np.concatenate([algebra.adjoint(positive[..., ::-1]), positive], axis=-1) + offset


def write_block_gf(group: h5py.Group, values: np.ndarray, beta: float) -> None:
    """Write a BlockGf of fermionic Matsubara functions from [S, K, a, b, 2 N]."""
    group.attrs["Format"] = "BlockGf"
    names = group.create_group("block_names")
    names.attrs["Format"] = "List"
    prefixes = [""] if len(values) == 1 else [f"{spin}_" for spin in SPINS]
    blocks = {f"{prefix}K{i}": block for prefix, of_spin in zip(prefixes, values) for i, block in enumerate(of_spin)}
    for i, (name, values_of_block) in enumerate(blocks.items()):
        names[str(i)] = name
        row = np.moveaxis(values_of_block, -1, 0)
        block = group.create_group(name)
        block.attrs["Format"] = "Gf"
        data = block.create_dataset("data", data=np.stack([row.real, row.imag], axis=-1))
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
        rows.append(along_axes(plain["q"]) | {name: plain[name] for name in ORDERS})
    return rows


def by_momentum(results: Results) -> list[dict[str, Any]]:
    """Return a row for each temperature and transfer: susceptibilities, structure factors, eigenvalues; q in pi/a."""
    rows = []
    for point in results.points:
        for row in responses(point):
            rows.append({"T": point.T, **along_axes(row.q / np.pi), "m": row.m, **columns(row.values)})
    return rows


def table(results: Results, name: str) -> list[dict[str, Any]]:
    """Return a row for each temperature and entry of an array: T, the axes, value and error."""
    return [{"T": point.T, **row} for point in results.points if name in point for row in entries(point[name])]


def along_axes(q) -> dict[str, float]:
    """Return the components of a momentum by column: q_x, q_y, q_z."""
    return {f"q_{x}": float(value) for x, value in zip("xyz", q)}
