"""The point group of a cluster, found from hopping table and superlattice, and its irreps by name."""

import numpy as np

from plaq.dca.lattice.crystal import schoenflies
from plaq.dca.lattice.orbital_symmetry import OrbitalAction, symmetries
from plaq.errors import InputError

# Two vectors closer to dependent than this count as dependent when harmonics of longer range are added.
RANK_TOLERANCE = 1e-8


class PointGroup:
    """Operations of the lattice's point group that map the superlattice of a cluster onto itself.

    operations [g, D, D]          integer matrices, R -> g R, identity first; with orbitals one may occur several times
    site_permutations [g, i]      index of g R_i
    momentum_permutations [g, i]  index of g K_i = (g^-1)^T K_i
    representatives [i]           the first momentum that the group maps onto K_i
    momentum_orbits, site_orbits  lists of the indices that the group maps onto each other
    name                          Schoenflies symbol: "C4v", "C2v", "C4", "D4h", ...
    action                        on functions with orbitals (orbital_symmetry.OrbitalAction)

    interaction: an Interaction that the operations have to leave invariant too. isolated: no patch, whose symmetry
    needs the positions of the orbitals.
    """

    def __init__(self, cluster, interaction=None, isolated=False):
        self._set(cluster, symmetries(cluster, interaction, isolated), interaction)

    @classmethod
    def of_operations(cls, cluster, operations, mask):
        """Return the group of given operations; mask [b, b] : whether functions f_ab can be there."""
        group = cls.__new__(cls)
        group._set(cluster, operations, mask=mask)
        return group

    def _set(self, cluster, operations, interaction=None, mask=None):
        self.cluster = cluster
        inverse = np.linalg.inv(cluster.vectors)
        compatible = lambda image: np.abs(image - np.rint(image)).max() < 1e-9
        found = [op for op in operations if compatible(cluster.vectors @ op.matrix.T @ inverse)]
        self.operations = np.array([op.matrix for op in found])
        self.site_permutations = np.array(
            [[cluster.site_index(g @ r) for r in cluster.sites] for g in self.operations]
        )
        self.momentum_permutations = np.array(
            [[cluster.momentum_index(k @ np.linalg.inv(g)) for k in cluster.momenta] for g in self.operations]
        )
        self.representatives = self.momentum_permutations.min(axis=0)
        self.momentum_orbits = _orbits(self.momentum_permutations)
        self.site_orbits = _orbits(self.site_permutations)
        self.action = OrbitalAction(cluster, found, self.momentum_permutations, interaction, mask)

    @property
    def name(self):
        return schoenflies(np.array(list({g.tobytes(): g for g in self.operations}.values())))

    def leaving(self, q):
        """Return indices of the operations that leave the momentum K_q where it is."""
        return np.flatnonzero(self.momentum_permutations[:, q] == q)

    def symmetrised(self, f_momenta):
        """Return mean of f(g K) over the group, along the first axis: the part of f that is invariant."""
        f_momenta = np.asarray(f_momenta)
        return sum(f_momenta[p] for p in self.momentum_permutations) / len(self.operations)


def _orbits(permutations):
    first = permutations.min(axis=0)
    return [np.flatnonzero(first == i) for i in np.unique(first)]


def character(lattice, name, g):
    """Return chi_name(g): trace of the operation g [2, 2] in the harmonics that carry the name.

    With g (1,0) at the angle theta: cos(l theta) for cos(l phi), det g cos(l theta) for sin(l phi).
    """
    harmonic, kind = lattice.system.harmonics[name]
    x_axis, y_axis = np.linalg.cholesky(np.array(lattice.system.metric, dtype=float)).T @ g @ (1, 0)
    theta = np.arctan2(y_axis, x_axis)
    det = round(np.linalg.det(g))
    factor = {"cos": 1, "sin": det, "both": 1 + det}[kind]
    return factor * round(2 * np.cos(harmonic * theta)) / 2


def irrep_projectors(cluster):
    """Return projectors {name: real symmetric [N_c, N_c]} on functions of K, complete and orthogonal.

    Names are those of the lattice's point group (square: s, d_x2y2, d_xy, g, p; hexagonal: s, p, d, f_cos, f_sin,
    i); a name that no function on the cluster carries is left out. If the cluster has the full symmetry of the
    lattice, these are its irreps. If it has less, irreps of the lattice merge (16B, [[4,2],[0,4]]: s with d_x2y2),
    and the name of a function is decided by content: lattice harmonics f_R(K) = sum_g chi(g) exp(i K.gR) are added
    from short to long R, and what is new in each belongs to its name. What cos Kx - cos Ky adds to the constant is
    then d_x2y2 on every cluster. All projectors commute with the group of the cluster.
    """
    return {name: basis @ basis.T for name, basis in _harmonics_by_name(cluster).items()}


def irrep_blocks(cluster, transfer=0):
    """Return projectors {"s+d_x2y2": [N_c, N_c]} on the blocks that no kernel with the cluster's symmetry connects.

    The symmetry is that of functions of K at momentum transfer K_transfer: the operations that leave it where it
    is. Names whose characters share an irrep of that group are joined by "+"; at transfer 0, with the full
    symmetry of the lattice, these are the irrep_projectors.
    """
    group = PointGroup(cluster)
    operations = group.operations[group.leaving(transfer)]
    projectors = irrep_projectors(cluster)
    chi = {n: np.array([character(cluster.lattice, n, g) for g in operations]) for n in projectors}
    blocks = []
    for name in projectors:
        connected = [b for b in blocks if any(abs(chi[name] @ chi[other]) > 1e-9 for other in b)]
        blocks = [b for b in blocks if b not in connected] + [sum(connected, []) + [name]]
    return {"+".join(names): sum(projectors[name] for name in names) for names in blocks}


def irrep_of(vector, projectors):
    """Return (name, weight in [0, 1]) of the projector that holds most of a vector [N_c, ...].

    Weights over trailing axes (frequency) add. Raises InputError for the zero vector.
    """
    vector = np.asarray(vector).reshape(len(vector), -1)
    norm = np.linalg.norm(vector) ** 2
    if norm == 0:
        raise InputError("the zero vector belongs to no irrep")
    weights = {name: np.linalg.norm(p @ vector) ** 2 / norm for name, p in projectors.items()}
    best = max(weights, key=weights.get)
    return best, float(weights[best])


def _harmonics_by_name(cluster):
    """Return orthonormal real basis {name: [N_c, dimension]} of functions of K, grown shell by shell."""
    lattice = cluster.lattice
    basis = {name: [] for name in lattice.system.harmonics}
    complete = np.zeros((cluster.size, 0))
    characters = {name: np.array([character(lattice, name, g) for g in lattice.point_group]) for name in basis}
    products = [_products(lattice, h) for h in range(len(lattice.point_group))]
    for shell in _shells(cluster):
        # cos and sin of K.R are the real functions; the images of R under the group are the columns.
        phases = cluster.momenta @ (lattice.point_group @ shell).T
        for name in basis:
            # sum_g chi(g) f(h g R) for every h in the group: all partners of an irrep with several dimensions.
            waves = np.cos(phases), np.sin(phases)
            columns = [wave[:, product] @ characters[name] for product in products for wave in waves]
            new = np.stack(columns, axis=-1)
            for _ in range(2):  # twice is enough (Kahan): orthogonal to rounding
                new = new - complete @ (complete.T @ new)
            left, strength, _ = np.linalg.svd(new, full_matrices=False)
            new = left[:, strength > RANK_TOLERANCE * cluster.size]
            basis[name].append(new)
            complete = np.concatenate([complete, new], axis=1)
        if complete.shape[1] == cluster.size:
            break
    joined = {name: np.concatenate(parts, axis=1) for name, parts in basis.items()}
    return {name: vectors for name, vectors in joined.items() if vectors.shape[1] > 0}


def _products(lattice, h):
    """Return indices of h g for all g of the lattice's point group."""
    position = {tuple(g.ravel()): i for i, g in enumerate(lattice.point_group)}
    return [position[tuple((lattice.point_group[h] @ g).ravel())] for g in lattice.point_group]


def _shells(cluster):
    """Return one displacement of each orbit of the lattice's point group, from short to long."""
    metric = np.array(cluster.lattice.system.metric)
    reach = np.arange(-cluster.size, cluster.size + 1)
    displacements = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    length = np.einsum("ri,ij,rj->r", displacements, metric, displacements)
    visited = set()
    for r in displacements[np.argsort(length, kind="stable")]:
        if tuple(r) not in visited:
            visited.update(tuple(g @ r) for g in cluster.lattice.point_group)
            yield r
