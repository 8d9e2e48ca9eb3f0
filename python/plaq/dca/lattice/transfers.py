"""Momenta q of the lattice at which responses are asked for, and the cluster momenta Q whose vertices they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from plaq.dca.lattice.bubble import nearest
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.path import path
from plaq.dca.lattice.symmetry import PointGroup


def momenta_asked(asked: int | Sequence[Sequence[float]] | None, lattice: Lattice) -> np.ndarray | None:
    """Return q [q, 2] in 1/a: of a list in pi/a, or so many points on the path of the lattice; None for None."""
    if asked is None:
        return None
    return path(lattice, asked).points if isinstance(asked, int) else np.pi * np.array(asked)


def needed_transfers(group: PointGroup, momenta: Iterable[np.ndarray]) -> list[int]:
    """Return indices of the cluster momenta Q, in rising order: one for all that the point group maps onto another."""
    return sorted({int(group.representatives[nearest(group.cluster, q)[0]]) for q in momenta})


def assign(group: PointGroup, momenta: np.ndarray, transfers: Sequence[int]) -> dict[int, list[tuple[int, np.ndarray]]]:
    """Return {Q: [(index of q, image of q to which Q is the nearest)]} for momenta [q, 2], and -1 for those without Q.

    The images are those under the point group, under which responses do not change.
    """
    assigned: dict[int, list[tuple[int, np.ndarray]]] = {Q: [] for Q in (*transfers, -1)}
    for i, q in enumerate(momenta):
        images = [q @ np.linalg.inv(g) for g in group.operations]
        places = [(nearest(group.cluster, image)[0], image) for image in images]
        Q, image = next((place for place in places if place[0] in assigned), (-1, q))
        assigned[Q].append((i, image))
    return assigned


def operation_to(group: PointGroup, q: np.ndarray, image: np.ndarray) -> int:
    """Return the index of the first operation that takes q to the image, as `assign` has it."""
    return next(i for i, g in enumerate(group.operations) if np.array_equal(q @ np.linalg.inv(g), image))


def transfers_of(two_particle, group: PointGroup) -> list[list[float]]:
    """Return the transfers in pi/a that the section [two_particle] needs where it leaves them to "auto"."""
    cluster = group.cluster
    needed = needed_transfers(group, momenta_asked(two_particle.momenta, cluster.lattice))
    return [(cluster.momenta[Q] / np.pi).round(15).tolist() for Q in needed]


def check_momenta(two_particle, group: PointGroup, isolated: bool, refuse) -> None:
    """Refuse momenta without a vertex, or between the momenta of an isolated cluster; ``refuse`` raises."""
    cluster, momenta = group.cluster, momenta_asked(two_particle.momenta, group.cluster.lattice)
    offsets = [np.abs(nearest(cluster, q)[1]).max() for q in momenta]
    if isolated and max(offsets) > 1e-9:
        q = momenta[int(np.argmax(offsets))] / np.pi
        refuse(f"two_particle.momenta: ({q[0]:g}, {q[1]:g}) pi/a is not a momentum of the isolated cluster; these are "
               + " ".join(cluster.names))
    if two_particle.transfers == "auto":
        return
    transfers = [cluster.momentum_index(np.pi * np.array(q)) for q in two_particle.transfers]
    for _, q in assign(group, momenta, transfers)[-1]:
        needed = cluster.momenta[nearest(cluster, q)[0]] / np.pi
        refuse(f"two_particle.momenta: ({q[0] / np.pi:g}, {q[1] / np.pi:g}) pi/a needs the two-particle function at "
               f"the transfer [{needed[0]:g}, {needed[1]:g}]: add it to two_particle.transfers, or leave them out")
