"""Irreps of gap functions with orbitals, Delta_ab(K) of pairs (K, a), (-K, b), by the names of harmonics."""

from __future__ import annotations

import numpy as np

from plaq.dca.lattice.harmonics import characters


def pairing_projectors(group) -> dict[str, np.ndarray]:
    """Return {name: Hermitian [n, n]} on functions of (K, a, b) in this order, complete and orthogonal.

    P = d/|G| sum_g chi(g) D(g) for the irreps of `weights_of_irreps`. All others are in "other". Operations that
    exchange spins are left out. A gap function is Delta, transformed as G_ab(K). With one orbital on a cluster with
    all symmetries these are the irreps of `symmetry.irrep_projectors`.
    """
    actions = [action_matrix(group, index) for index in _of_space(group)]
    size = len(actions[0])
    projectors = {}
    for name, weights in weights_of_irreps(group, _of_space(group)).items():
        p = sum(x * d for x, d in zip(weights, actions))
        if np.trace(p).real > 0.5:
            projectors[name] = (p + p.conj().T) / 2
    rest = np.eye(size) - sum(projectors.values(), np.zeros((size, size)))
    return projectors | ({"other": rest} if np.trace(rest).real > 0.5 else {})


def pairing_irreps(group) -> dict[str, int]:
    """Return {name: number of functions} of the irreps that `pairing_projectors` has, without making these."""
    traces = np.array([group.action.trace(index) for index in _of_space(group)])
    found = {name: round((weights @ traces).real)
             for name, weights in weights_of_irreps(group, _of_space(group)).items()}
    found = {name: count for name, count in found.items() if count}
    rest = group.cluster.size * group.cluster.lattice.bands**2 - sum(found.values())
    return found | ({"other": rest} if rest else {})


def _of_space(group) -> list[int]:
    return [index for index, op in enumerate(group.action.operations) if not op.flip]


def weights_of_irreps(group, operations) -> dict[str, np.ndarray]:
    """Return {name: d chi(g) / |G|} of a group of operations by their indices, for the irreps that have names.

    Names are those of `harmonics.characters` for functions that are even under operations which only exchange
    orbitals, and end in "_odd" for those that are odd under one of them, like the exchange of two layers. Where two
    complex irreps make a real one half the dimension takes the place of d.
    """
    found = characters(group.cluster.lattice.system, group.operations[operations])
    parity = _parity(group, operations)
    if parity is not None:
        found |= {"+".join(f"{part}_odd" for part in name.split("+")): chi * parity for name, chi in found.items()}
    return {name: chi[0] / np.sum(chi**2) * chi for name, chi in found.items()}


def _parity(group, operations) -> np.ndarray | None:
    """Return a character [g] of values +-1 that is -1 for an operation which only exchanges orbitals; None without one.

    It is the sign of the permutation of equivalent orbitals.
    """
    action = group.action
    internal = np.all(group.operations[operations] == np.eye(group.operations.shape[-1]), axis=(1, 2))
    for orbit in action.orbital_orbits:
        places = [np.searchsorted(orbit, action.operations[g].orbitals[orbit]) for g in operations]
        signs = np.array([round(np.linalg.det(np.eye(len(orbit))[place])) for place in places])
        if np.any(signs[internal] < 0):
            return signs
    return None


def action_matrix(group, index) -> np.ndarray:
    """Return D [n, n] with (D f)(K, a, b) = phases f(image) of an operation, on functions of (K, a, b)."""
    shape = (group.cluster.size, *[group.cluster.lattice.bands] * 2)
    n = int(np.prod(shape))
    unit = np.eye(n).reshape(1, *shape, n)
    return group.action.image(index, unit)[0].reshape(n, n)


def exchanged(group) -> np.ndarray:
    """Return the permutation [n] of (K, a, b) to (-K, b, a), under which gap functions of singlets are even."""
    shape = (group.cluster.size, *[group.cluster.lattice.bands] * 2)
    return np.arange(int(np.prod(shape))).reshape(shape)[group.cluster.minus].swapaxes(1, 2).ravel()
