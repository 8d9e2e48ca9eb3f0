"""Start of a run from another run: its last Σ(K, iω), mu and configurations.

The nearest of the other run's temperatures counts, by |log T/T'|. Its Σ is taken with the Hartree term of the density
and U of the new run. A run keeps the configurations of its last temperature, which are used when that is the nearest.
Random numbers continue after those of the other run, as if its temperatures were earlier ones of the new run. None
behind the configurations is used again, and a run from a warmer one gives the results of one longer run.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.bins import Bins
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.model import Model, cluster_of
from plaq.dca.loop.first_sigma import hartree_term
from plaq.dca.loop.state import Predecessor, RunState
from plaq.dca.parameters import PROGRAM, Parameters
from plaq.dca.physics.equations import equations_of
from plaq.dca.solver.chains import Chains, in_columns, out_of_columns
from plaq.errors import InputError
from plaq.files import checkpoint
from plaq.files.packed import pack
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
    check_cluster(cluster, parameters, source_parameters, other)
    plain = checkpoint.load(other / "checkpoint.h5", PROGRAM, *source_parameters.fingerprints(),
                            remedy="so no run can start from it")
    state = RunState.from_plain(plain) if plain else RunState()
    if not state.points:
        raise InputError(f"--from {other}: no finished temperature is in its checkpoint.h5")
    source = nearest(state, source_parameters, parameters.dca.temperatures[0])
    return Start(hash_of(source), adapted(source, parameters), in_words(source, other))


def check_cluster(cluster: Cluster, parameters: Parameters, source_parameters: Parameters, other: Path) -> None:
    """Raise InputError unless sites and momenta are the same, one by one, and so are orbitals and spins."""
    source = cluster_of(source_parameters)
    if not (np.array_equal(cluster.sites, source.sites) and np.array_equal(cluster.momenta, source.momenta)):
        raise InputError(f"--from {other}: model.cluster = {source.vectors.tolist()} there and "
                         f"{cluster.vectors.tolist()} here have different sites or momenta: Σ and configurations are "
                         "only those of the same cluster")
    here, there = functions_in_words(parameters), functions_in_words(source_parameters)
    if here != there:
        raise InputError(f"--from {other}: its Σ is that of {there}, and this run has {here}")


def functions_in_words(p: Parameters) -> str:
    """Return orbitals and stored spins, which the shape of Σ depends on."""
    if not p.is_general:
        return "one band, solved by CT-AUX"
    ordered = f", {p.hamiltonian.order.in_words}" if p.hamiltonian.order else ""
    return (f"the orbitals {', '.join(p.hamiltonian.orbitals)} with {p.hamiltonian.spins} spin(s) of a general model"
            f"{ordered}")


def vertices_of(p: Parameters) -> str:
    """Return the terms of a general interaction up to the size of their values, which configurations belong to."""
    interaction = p.hamiltonian.interaction
    return "; ".join(str(replace(term, value=math.copysign(1.0, term.value)))
                     for term in (*interaction.pairs, *interaction.exchanges))


def nearest(state: RunState, source_parameters: Parameters, T: float) -> dict[str, Any]:
    """Return the part of the other run's state that a start at T takes, as a dict of arrays and numbers.

    omega [w], sigma, beta, mu, order, tau as in `Predecessor`; density and U of the Hartree term in sigma, or of a
    general model that term; points : number of temperatures of that run, with those before it; chains : columns
    (`in_columns`) or None.
    """
    p = source_parameters
    if p.hamiltonian.order is None:
        point = min(reversed(state.points), key=lambda point: abs(math.log(point.T / T)))
    else:  # the whole matrix of Sigma is that of the last temperature only
        point = state.points[-1]
    last = state.predecessor
    chains, density = None, float(point["density"].mean)
    if last and point is state.points[-1]:
        source = {name: getattr(last, name) for name in ("omega", "sigma", "beta", "mu", "order", "tau")}
        density = density if p.dca.density is None else p.dca.density
        if last.chains:
            chains = in_columns(last.chains.states.values())
    else:
        sigma = point["Sigma"]
        order = point.history[-1]["order"] if point.history else None
        omega = np.asarray(sigma.axes[-1].values)
        source = {"omega": omega, "sigma": whole(sigma.mean, p), "beta": point.beta, "mu": point.mu, "order": order,
                  "tau": None}
    interaction = ({"hartree": hartree_term(p, density), "vertices": vertices_of(p)} if p.is_general
                   else {"U": p.model.U})
    return {**source, "density": density, **interaction, "points": state.earlier + len(state.points), "chains": chains}


def whole(sigma: np.ndarray, p: Parameters) -> np.ndarray:
    """Return Sigma of a point with its axes of length 1, [S, K, a, b, w]; [K, w] of one band as it is."""
    if not p.is_general:
        return sigma
    orbitals = len(p.hamiltonian.orbitals)
    return sigma.reshape(p.hamiltonian.spins, -1, orbitals, orbitals, sigma.shape[-1])


def adapted(source: dict[str, Any], p: Parameters) -> RunState:
    """Return the state of a run of ``p`` that has done nothing yet and starts from ``source``, of `nearest`.

    Chain c starts from the configuration of chain c modulo their number; each is warmed up in full.
    """
    density = source["density"] if p.dca.density is None else p.dca.density
    order, fits = source["order"], True
    if p.is_general:
        shift = (hartree_term(p, density) - source["hartree"])[..., None]
        up = float(np.einsum("skaaw->", shift) / (shift.shape[0] * shift.shape[2]))
        same, fits = not shift.any(), vertices_of(p) == source["vertices"]
    else:
        shift = up = (p.model.U * density - source["U"] * source["density"]) / 2
        same = p.model.U == source["U"]
    if order is None or not same:
        order = equations_of(Model.of(p)).expected_order(p, source["beta"], density)
    mu = source["mu"] + up if p.dca.mu is None else p.dca.mu
    start = Predecessor(source["omega"], source["sigma"] + shift, source["beta"], mu, order, source["tau"])
    if source["chains"] and fits:
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
