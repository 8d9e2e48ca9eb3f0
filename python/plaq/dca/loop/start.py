"""Start of a run from another run: its last Σ(K, iω), mu and configurations.

The nearest of the other run's temperatures counts, by |log T/T'|. Its Σ is taken with the Hartree term of the density
and U of the new run. A run keeps the configurations of its last temperature, which are used when that is the nearest.
Random numbers continue after those of the other run, as if its temperatures were earlier ones of the new run. None
behind the configurations is used again, and a run from a warmer one gives the results of one longer run.
"""

from __future__ import annotations

import csv
import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.bins import Bins
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.model import cluster_of
from plaq.dca.loop.state import Predecessor, RunState
from plaq.dca.parameters import PROGRAM, Parameters
from plaq.dca.solver import choices
from plaq.dca.solver.chains import Chains, in_columns, out_of_columns
from plaq.errors import InputError
from plaq.files import checkpoint
from plaq.files.guard import reading
from plaq.files.packed import pack
from plaq.inputs.schema import to_toml
from plaq.run.folder import need_program


@dataclass(frozen=True)
class Start:
    """Start of a run from another one: ``hash`` of the other state.

    ``state`` for `Loop` and ``words`` for the log are there where it was read just now; a resumed run keeps its own.
    """

    hash: str
    state: RunState | None = None
    words: str = ""


def find_start(parameters: Parameters, folder: Path | None, other: Path | None) -> Start | None:
    """Return the start of the run in ``folder`` (None for a run without one) from the run in the folder ``other``.

    None stands for a start from ``dca.sigma`` without configurations. A folder that has begun resumes from its own
    copy, so that ``other`` is not needed again. InputError when it cannot be used, or differs from ``dca.start``.
    """
    requested = parameters.dca.start
    begun = kept(folder) if folder else None
    if other is None or (begun and not os.path.exists(other)):
        expected = requested or begun
        if expected and not (folder and os.path.exists(folder / "checkpoint.h5")):
            raise InputError(f"dca.start = {expected}: this is the hash of the state of another run, which is missing; "
                             "name the folder of that run with --from")
        return Start(expected) if expected else None
    start = read(other, parameters)
    if requested and requested != start.hash:
        raise InputError(f"--from {other}: dca.start names the state {requested}, but this run has {start.hash}")
    return start


def kept(folder: Path) -> str | None:
    """Return the hash of the start of the run in this folder; None without another run or without a run."""
    path = folder / "input.resolved.toml"
    return Parameters.read(path).dca.start if os.path.isfile(path) else None


def read(other: Path, parameters: Parameters) -> Start:
    """Return the state of the run in the folder ``other``, as the start of a run of ``parameters``."""
    if parameters.solver.kind == "ed":
        raise InputError('--from: solver.kind = "ed" has no loop that could start from another run')
    path = other / "input.resolved.toml"
    if not os.path.isfile(path):
        raise InputError(f"--from {other}: there is no run: {path} is missing")
    need_program(other, PROGRAM, "give a run of this one with --from")
    source_parameters = Parameters.read(path)
    cluster = cluster_of(parameters)
    check_cluster(cluster, source_parameters, other)
    plain = checkpoint.load(other / "checkpoint.h5", PROGRAM, *source_parameters.fingerprints(),
                            remedy="so no run can start from it")
    state = RunState.from_plain(plain) if plain else RunState()
    if not state.points:
        raise InputError(f"--from {other}: no finished temperature is in its checkpoint.h5")
    source = nearest(state, source_parameters, parameters.dca.temperatures[0])
    return Start(hash_of(source), adapted(source, parameters, cluster), in_words(source, other))


def first_sigma(p: Parameters, cluster: Cluster, T: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (omega [w], Sigma [K, w]), by ``dca.sigma``, of a run that does not start from another one."""
    if p.dca.sigma not in ("hartree", "zero"):
        return read_sigma(Path(p.dca.sigma), cluster, T)
    filling = p.dca.density if p.dca.density is not None else 1.0
    constant = p.model.U * filling / 2 if p.dca.sigma == "hartree" else 0.0
    return np.array([math.pi * T]), np.full((cluster.size, 1), constant, dtype=complex)


def read_sigma(path: Path, cluster: Cluster, T: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (omega [w], Sigma [K, w]) of a table with the columns K_x, K_y, omega > 0, re, im, and T.

    Of several T the nearest counts; the table of `plaq dca export` is one. InputError for any other file.
    """
    where = f"dca.sigma = {to_toml(str(path))}"
    with reading(path, "a table of Sigma"):
        with open(path, newline="") as file:
            rows = [{name: float(row[name]) for name in ("K_x", "K_y", "omega", "re", "im")}
                    | {"T": float(row.get("T", T))} for row in csv.DictReader(file)]
    if not rows:
        raise InputError(f"{where}: there are no rows")
    nearest_T = min((row["T"] for row in rows), key=lambda x: abs(math.log(x / T)))
    table: dict[int, dict[float, complex]] = {}
    for row in rows:
        K = np.array([row["K_x"], row["K_y"]])
        turns = (cluster.momenta - K) / (2 * math.pi)
        index = np.flatnonzero(np.abs(turns - np.rint(turns)).max(axis=1) < 1e-5)
        if not len(index) or not row["omega"] > 0 or not math.isfinite(row["re"] + row["im"]):
            raise InputError(f"{where}: K = ({row['K_x']:g}, {row['K_y']:g}), omega = {row['omega']:g} is no "
                             "momentum of the cluster with omega > 0 and a finite value")
        if row["T"] == nearest_T:
            table.setdefault(int(index[0]), {})[row["omega"]] = complex(row["re"], row["im"])
    grids = {tuple(sorted(values)) for values in table.values()}
    if len(table) < cluster.size or len(grids) > 1:
        raise InputError(f"{where}: every momentum of the cluster needs the same frequencies")
    omega = np.array(next(iter(grids)))
    return omega, np.array([[table[K][w] for w in omega] for K in range(cluster.size)])


def check_cluster(cluster: Cluster, source_parameters: Parameters, other: Path) -> None:
    """Raise InputError unless sites and momenta are the same, one by one."""
    source = cluster_of(source_parameters)
    if not (np.array_equal(cluster.sites, source.sites) and np.array_equal(cluster.momenta, source.momenta)):
        raise InputError(f"--from {other}: model.cluster = {source.vectors.tolist()} there and "
                         f"{cluster.vectors.tolist()} here have different sites or momenta: Σ and configurations are "
                         "only those of the same cluster")


def nearest(state: RunState, source_parameters: Parameters, T: float) -> dict[str, Any]:
    """Return the part of the other run's state that a start at T takes, as a dict of arrays and numbers.

    omega [w], sigma [K, w], beta, mu, order, tau as in `Predecessor`; density and U of the Hartree term in sigma;
    points : number of temperatures of that run, with those before it; chains : columns (`in_columns`) or None.
    """
    point = min(reversed(state.points), key=lambda point: abs(math.log(point.T / T)))
    last = state.predecessor
    chains, density = None, float(point["density"].mean)
    if last and point is state.points[-1]:
        source = {name: getattr(last, name) for name in ("omega", "sigma", "beta", "mu", "order", "tau")}
        density = density if source_parameters.dca.density is None else source_parameters.dca.density
        if last.chains:
            chains = in_columns(last.chains.states.values())
    else:
        sigma = point["Sigma"]
        order = point.history[-1]["order"] if point.history else None
        source = {"omega": np.asarray(sigma.axes[1].values), "sigma": sigma.mean, "beta": point.beta, "mu": point.mu,
                  "order": order, "tau": None}
    return {**source, "density": density, "U": source_parameters.model.U, "points": state.earlier + len(state.points),
            "chains": chains}


def adapted(source: dict[str, Any], p: Parameters, cluster: Cluster) -> RunState:
    """Return the state of a run of ``p`` that has done nothing yet and starts from ``source``, of `nearest`.

    Chain c starts from the configuration of chain c modulo their number; each is warmed up in full.
    """
    density = source["density"] if p.dca.density is None else p.dca.density
    shift = (p.model.U * density - source["U"] * source["density"]) / 2
    order = source["order"]
    if order is None or p.model.U != source["U"]:
        order = choices.expected_order(p, cluster, source["beta"], density)
    mu = source["mu"] + shift if p.dca.mu is None else p.dca.mu
    start = Predecessor(source["omega"], source["sigma"] + shift, source["beta"], mu, order, source["tau"])
    if source["chains"]:
        chains = out_of_columns(source["chains"])
        dealt = ({**chains[c % len(chains)], "number": c} for c in range(p.solver.chains))
        start.chains = Chains(Bins(p.solver.bins, p.solver.chains), dealt)
    return RunState(earlier=source["points"], predecessor=start, asked=list(p.asked()))


def hash_of(source: dict[str, Any]) -> str:
    """Return the sha256 of every bit of ``source``."""
    text, block = pack(source)
    return hashlib.sha256(text.encode() + block).hexdigest()


def in_words(source: dict[str, Any], other: Path) -> str:
    """Return a line for the log."""
    chains = source["chains"]
    parts = f"μ and the configurations of {len(chains['number'])} chains" if chains else \
        "μ; chains start empty, as its configurations are of another temperature"
    return f"starts from {other} at T = {1 / source['beta']:.5g}: Σ, {parts}"
