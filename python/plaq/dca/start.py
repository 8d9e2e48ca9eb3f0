"""What a run starts from when that is another run: Σ(K, iω), mu and configurations that it ended with.

Of the other run's temperatures the nearest one counts, |log T/T'|. Its Σ is taken with the Hartree term of the
density and U of the new run. A run keeps the configurations of its last temperature, so they come along when that
is the nearest. Random numbers go on behind those of the other run, as if its temperatures were earlier ones of the
new run: none that the configurations came from is used again,
and a run that goes on to colder temperatures gives what a longer run would.
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
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.parameters import PROGRAM, Parameters
from plaq.dca.physics.point import Point
from plaq.dca.solver import choices
from plaq.dca.solver.chains import in_columns, out_of_columns
from plaq.errors import InputError
from plaq.files import checkpoint
from plaq.files.guard import reading
from plaq.files.packed import pack
from plaq.inputs.schema import to_toml
from plaq.run.folder import need_program


@dataclass(frozen=True)
class Start:
    """``hash`` of what a run starts from; ``state`` for `Loop` and ``words`` for the log, where it has just been
    read and not kept from an earlier start."""

    hash: str
    state: dict[str, Any] | None = None
    words: str = ""


def find_start(parameters: Parameters, folder: Path | None, other: Path | None) -> Start | None:
    """What the run in ``folder`` (None for a run without one) starts from;
    None for what ``dca.sigma`` says and no configurations.

    A folder that has begun goes on from its own copy, so that ``other``, a run's folder, is not needed any more.
    InputError when it cannot be used, or is not what ``dca.start`` asks for.
    """
    asked = parameters.dca.start
    own = kept(folder) if folder else None
    if other is None or (own and not os.path.exists(other)):
        wanted = asked or own
        if wanted and not (folder and os.path.exists(folder / "checkpoint.h5")):
            raise InputError(f"dca.start = {wanted}: this is the hash of what a run starts from, "
                             "which is not at hand; name the folder of the run that it came from with --from")
        return Start(wanted) if wanted else None
    start = read(other, parameters)
    if asked and asked != start.hash:
        raise InputError(f"--from {other}: dca.start asks for the state {asked}, and there it is {start.hash}")
    return start


def kept(folder: Path) -> str | None:
    """The hash of what the run in this folder started from, None if that was no other run or there is no run."""
    path = folder / "input.resolved.toml"
    return Parameters.read(path).dca.start if os.path.isfile(path) else None


def read(other: Path, parameters: Parameters) -> Start:
    """The state of the run in the folder ``other``, as the start of a run of ``parameters``."""
    if parameters.solver.kind == "ed":
        raise InputError('--from: solver.kind = "ed" has no loop that could start from another run')
    path = other / "input.resolved.toml"
    if not os.path.isfile(path):
        raise InputError(f"--from {other}: there is no run: {path} is missing")
    need_program(other, PROGRAM, "give a run of this one with --from")
    theirs = Parameters.read(path)
    cluster = Cluster(Lattice(parameters.hopping()), parameters.model.cluster)
    check_cluster(cluster, theirs, other)
    state = checkpoint.load(other / "checkpoint.h5", PROGRAM, *theirs.fingerprints(),
                            remedy="so no run can start from it")
    if state is None or not state["points"]:
        raise InputError(f"--from {other}: no finished temperature is in its checkpoint.h5")
    found = nearest(state, theirs, parameters.dca.temperatures[0])
    return Start(hash_of(found), adapted(found, parameters, cluster), in_words(found, other))


def first_sigma(p: Parameters, cluster: Cluster, T: float) -> tuple[np.ndarray, np.ndarray]:
    """(omega [w], Sigma [K, w]) that a run without another one before it starts from, as ``dca.sigma`` says."""
    if p.dca.sigma not in ("hartree", "zero"):
        return read_sigma(Path(p.dca.sigma), cluster, T)
    filling = p.dca.density if p.dca.density is not None else 1.0
    constant = p.model.U * filling / 2 if p.dca.sigma == "hartree" else 0.0
    return np.array([math.pi * T]), np.full((cluster.size, 1), constant, dtype=complex)


def read_sigma(path: Path, cluster: Cluster, T: float) -> tuple[np.ndarray, np.ndarray]:
    """(omega [w], Sigma [K, w]) of a table with the columns K_x, K_y, omega > 0, re, im, and T where there are
    several, of which the nearest counts: as `plaq dca export` writes it.
    InputError where that is not what the file holds."""
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
        found = np.flatnonzero(np.abs(turns - np.rint(turns)).max(axis=1) < 1e-5)
        if not len(found) or not row["omega"] > 0 or not math.isfinite(row["re"] + row["im"]):
            raise InputError(f"{where}: K = ({row['K_x']:g}, {row['K_y']:g}), omega = {row['omega']:g} is no "
                             "momentum of the cluster with omega > 0 and a finite value")
        if row["T"] == nearest_T:
            table.setdefault(int(found[0]), {})[row["omega"]] = complex(row["re"], row["im"])
    grids = {tuple(sorted(values)) for values in table.values()}
    if len(table) < cluster.size or len(grids) > 1:
        raise InputError(f"{where}: every momentum of the cluster needs the same frequencies")
    omega = np.array(next(iter(grids)))
    return omega, np.array([[table[K][w] for w in omega] for K in range(cluster.size)])


def check_cluster(mine: Cluster, theirs: Parameters, other: Path) -> None:
    """InputError unless sites and momenta are the same, one by one."""
    cluster = Cluster(Lattice(theirs.hopping()), theirs.model.cluster)
    if not (np.array_equal(mine.sites, cluster.sites) and np.array_equal(mine.momenta, cluster.momenta)):
        raise InputError(f"--from {other}: model.cluster = {cluster.vectors.tolist()} there and "
                         f"{mine.vectors.tolist()} here have different sites or momenta: Σ and configurations are "
                         "only those of the same cluster")


def nearest(state: dict[str, Any], theirs: Parameters, T: float) -> dict[str, Any]:
    """What is taken from the other run's state for a start at T.

    omega [w], sigma [K, w], beta, mu, order, tau as in the loop's ``last``;
    density and U of the Hartree term in sigma;
    points : how many temperatures that run has done, with those before it; chains : columns (`in_columns`) or None.
    """
    points = [Point.from_state(point) for point in state["points"]]
    point = min(reversed(points), key=lambda point: abs(math.log(point.T / T)))
    last = state.get("last")
    chains, density = None, float(point["density"].mean)
    if last and point is points[-1]:
        found = {name: last[name] for name in ("omega", "sigma", "beta", "mu", "order", "tau")}
        density = density if theirs.dca.density is None else theirs.dca.density
        if "chains" in last:
            states = out_of_columns(last["chains"]["states"])
            chains = in_columns(sorted(states, key=lambda chain: chain["number"]))
    else:
        sigma = point["Sigma"]
        order = point.history[-1]["order"] if point.history else None
        found = {"omega": np.asarray(sigma.axes[1].values), "sigma": sigma.mean, "beta": point.beta, "mu": point.mu,
                 "order": order, "tau": None}
    return {**found, "density": density, "U": theirs.model.U, "points": state.get("earlier", 0) + len(points),
            "chains": chains}


def adapted(found: dict[str, Any], p: Parameters, cluster: Cluster) -> dict[str, Any]:
    """The state of a `Loop` of ``p`` that has done nothing yet and starts from what was ``found``.

    Chain c starts from the configuration of chain c modulo their number; each is warmed up in full.
    """
    density = found["density"] if p.dca.density is None else p.dca.density
    shift = (p.model.U * density - found["U"] * found["density"]) / 2
    order = found["order"]
    if order is None or p.model.U != found["U"]:
        order = choices.expected_order(p, cluster, found["beta"], density)
    last = {"omega": found["omega"], "sigma": found["sigma"] + shift, "beta": found["beta"],
            "mu": found["mu"] + shift if p.dca.mu is None else p.dca.mu, "order": order, "tau": found["tau"]}
    if found["chains"]:
        chains = out_of_columns(found["chains"])
        dealt = [{**chains[c % len(chains)], "number": c} for c in range(p.solver.chains)]
        last["chains"] = {"states": in_columns(dealt), "bins": Bins(p.solver.bins, p.solver.chains).state()}
    return {"points": [], "index": 0, "seconds": {"start-up": 0.0, "checkpoints": 0.0}, "earlier": found["points"],
            "last": last, "asked": list(p.asked())}


def hash_of(found: dict[str, Any]) -> str:
    """sha256 of every bit of it."""
    text, block = pack(found)
    return hashlib.sha256(text.encode() + block).hexdigest()


def in_words(found: dict[str, Any], other: Path) -> str:
    """A line for the log."""
    chains = found["chains"]
    came = f"μ and the configurations of {len(chains['number'])} chains" if chains else \
        "μ; chains start empty, as its configurations are of another temperature"
    return f"starts from {other} at T = {1 / found['beta']:.5g}: Σ, {came}"
