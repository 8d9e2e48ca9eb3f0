"""Self-energy from which a run starts, by ``dca.sigma``: the Hartree term, zero, or a table."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np

from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.spinor import COMPONENTS
from plaq.dca.parameters import Parameters
from plaq.dca.physics import hartree
from plaq.dca.physics.orbitals import SPINS
from plaq.errors import InputError
from plaq.files.guard import reading
from plaq.inputs.schema import to_toml


def first_sigma(p: Parameters, cluster: Cluster, T: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (omega [w], Sigma), by ``dca.sigma``, of a run that does not start from another one.

    Sigma is [K, w], or [S, K, a, b, w] of a general model.
    """
    if p.dca.sigma not in ("hartree", "zero"):
        return read_sigma(p, cluster, T)
    constant = hartree_term(p, p.dca.density) * (p.dca.sigma == "hartree")
    shape = (cluster.size, 1)
    if p.is_general:
        orbitals = p.hamiltonian.components
        shape = p.hamiltonian.spins, cluster.size, orbitals, orbitals, 1
        constant = constant[..., None]
    return np.array([math.pi * T]), np.array(np.broadcast_to(constant, shape), dtype=complex)


def hartree_term(p: Parameters, density: float | None) -> Any:
    """Return the Hartree term at a density: U n/2, or [S, 1, a, b] with all orbitals alike.

    Without a density half of the states are filled.
    """
    if not p.is_general:
        return p.model.U * (1.0 if density is None else density) / 2
    filling = float(len(p.hamiltonian.orbitals)) if density is None else density
    return hartree.uniform(p.hamiltonian, filling)


def read_sigma(p: Parameters, cluster: Cluster, T: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (omega [w], Sigma) of a table with the columns K_x, K_y, omega > 0, re, im, and T.

    A general model has as many K as dimensions and, where it has several of them, the columns spin, orbital and
    orbital'. Of several T the nearest counts; the table of `plaq dca export` is one. InputError for any other file.
    """
    path, where = Path(p.dca.sigma), f"dca.sigma = {to_toml(p.dca.sigma)}"
    labels = inner(p)
    components = [f"K_{x}" for x in "xyz"[:cluster.momenta.shape[1]]]
    with reading(path, "a table of Sigma"):
        with open(path, newline="") as file:
            rows = [{name: float(row[name]) for name in (*components, "omega", "re", "im")}
                    | {name: row[name] for name in labels} | {"T": float(row.get("T", T))}
                    for row in csv.DictReader(file)]
    if not rows:
        raise InputError(f"{where}: there are no rows")
    nearest_T = min((row["T"] for row in rows), key=lambda x: abs(math.log(x / T)))
    table: dict[tuple[int, ...], dict[float, complex]] = {}
    for row in rows:
        for name, known in labels.items():
            if row[name] not in known:
                raise InputError(f"{where}: {name} = {row[name]} is none of {', '.join(known)}")
        K = [row[name] for name in components]
        turns = (cluster.momenta - np.array(K)) / (2 * math.pi)
        index = np.flatnonzero(np.abs(turns - np.rint(turns)).max(axis=1) < 1e-5)
        if not len(index) or not row["omega"] > 0 or not math.isfinite(row["re"] + row["im"]):
            raise InputError(f"{where}: K = ({', '.join(f'{x:g}' for x in K)}), omega = {row['omega']:g} is no "
                             "momentum of the cluster with omega > 0 and a finite value")
        if row["T"] == nearest_T:
            place = int(index[0]), *(known.index(row[name]) for name, known in labels.items())
            table.setdefault(place, {})[row["omega"]] = complex(row["re"], row["im"])
    grids = {tuple(sorted(values)) for values in table.values()}
    sizes = cluster.size, *map(len, labels.values())
    if len(table) < math.prod(sizes) or len(grids) > 1:
        raise InputError(f"{where}: every momentum of the cluster{' and pair of orbitals' * bool(labels)} needs the "
                         "same frequencies")
    omega = np.array(next(iter(grids)))
    sigma = np.array([[table[place][w] for w in omega] for place in itertools.product(*map(range, sizes))])
    return omega, ordered(sigma.reshape(*sizes, len(omega)), p)


def inner(p: Parameters) -> dict[str, tuple[str, ...]]:
    """Return names and values of the columns of a table beside those of K, omega and T."""
    if not p.is_general:
        return {}
    orbitals, spins = p.hamiltonian.orbitals, p.hamiltonian.spins
    if p.hamiltonian.components > len(orbitals):
        orbitals = COMPONENTS
    return ({"spin": SPINS} if spins == 2 else {}) | (
        {"orbital": orbitals, "orbital'": orbitals} if len(orbitals) > 1 else {})


def ordered(sigma: np.ndarray, p: Parameters) -> np.ndarray:
    """Return [K, spin, a, b, w], without axes of length 1, as [S, K, a, b, w]; [K, w] of one band as it is."""
    if not p.is_general:
        return sigma
    orbitals = p.hamiltonian.components
    shape = len(sigma), p.hamiltonian.spins, orbitals, orbitals, sigma.shape[-1]
    return np.moveaxis(sigma.reshape(shape), 1, 0)
