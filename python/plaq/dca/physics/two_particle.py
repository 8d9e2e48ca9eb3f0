"""Two-particle functions: their symmetry and labels, and eigenvalues of the Bethe-Salpeter equation in each channel."""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis
from plaq.dca.lattice.symmetry import irrep_of
from plaq.dca.physics import bethe_salpeter
from plaq.errors import RunError
from plaq.trace.session import region

IRREP_NAMES = {"d_x2y2": "d", "d_xy": "dxy"}  # as in lambda_d; other irreps keep their name
NEGATIVE = "negative_"  # before the name of an eigenvalue: how many of the pairing function are below 0 in its irrep
LEADING = 3  # eigenvalues that are kept of every general channel
PAIRING = "Re <G_up(k,k') G_down(k,k')*>, q = 0, nu = 0; rows w > 0"
CHANNELS = {
    "pp": "<G_up(k,k') G_down(q-k,q-k')>",
    "magnetic": "1/2 sum_ss' s s' <G_s(k+q,k) G_s'(k',k'+q)> - 1/2 sum_s <G_s(k',k) G_s(k+q,k'+q)>",
    "charge": "1/2 sum_ss' <G_s(k+q,k) G_s'(k',k'+q)> - 1/2 sum_s <G_s(k',k) G_s(k+q,k'+q)>",
    "upup": "1/2 sum_s (<G_s(k+q,k) G_s(k',k'+q)> - <G_s(k',k) G_s(k+q,k'+q)>)",
    "updown": "1/2 sum_s <G_s(k+q,k) G_-s(k',k'+q)>",
    "transverse": "-<G_up(k,k') G_down(k'+q,k+q)>, measured as the magnetic one, which it equals",
}


def short_name(block):
    """Return the name of an irrep in observables, or of several joined by "+": "s+d_x2y2" is "s+d"."""
    for name, short in IRREP_NAMES.items():
        block = block.replace(name, short)
    return block


def pair_orbits(group):
    """Return the block [K, K'] of the pairing function: pairs that the point group maps onto each other share one."""
    size = group.cluster.size
    pair = np.arange(size * size).reshape(size, size)
    smallest = np.min([pair[p][:, p] for p in group.momentum_permutations], axis=0)
    return np.unique(smallest, return_inverse=True)[1].reshape(size, size)


@region("Bethe-Salpeter: pairing")
def pairing(evaluation, m, projectors, blocks, g4):
    """Return leading pairing eigenvalues and gap functions of every irrep, from G4 [K, w > 0, K', w'].

    The equation is solved in each block that symmetry keeps apart; where a small point group joins irreps in one
    block, an eigenvalue belongs to the irrep that holds most of its gap function.
    """
    window = g4.shape[1]
    chi0_cluster, chi0_lattice = pair_bubbles(evaluation, m, window)
    g4 = bethe_salpeter.symmetrised(g4, evaluation.model.group.momentum_permutations)

    def solve(joined, name, w):
        """Return (eigenvalue, gap function, number of negative eigenvalues of G4) of one irrep with w frequencies kept.

        All are NaN where noise leaves no solution.
        """
        inner = bethe_salpeter.narrowed(g4, chi0_cluster, chi0_lattice, w)
        try:
            block = bethe_salpeter.pairing(*inner, {joined: blocks[joined]})[joined]
            i = leading(block, joined, name, projectors)
        except (RunError, np.linalg.LinAlgError):
            return np.nan, np.full((evaluation.model.cluster.size, w), np.nan), np.nan
        return block.eigenvalues[i], block.gaps[i], block.spurious

    values = {}
    for joined in blocks:
        for name in joined.split("+"):
            short = short_name(name)
            values[f"lambda_{short}"], values[f"eigenvector_{short}"], values[f"{NEGATIVE}lambda_{short}"] = solve(
                joined, name, window)
            if name == "d_x2y2":
                values["lambda_window"] = np.array([solve(joined, name, w)[0] for w in windows(window)])
    return values


def pair_bubbles(evaluation, m, window):
    """Return chi0 of pairs at q = 0, nu = 0 of the cluster and of the lattice, [K, w > 0]."""
    g, sigma = evaluation.dyson(m)
    n = np.arange(window)
    z = evaluation.on_lattice(sigma).z_at(sigma, high_frequency_sigma(evaluation, g), n)
    chi0_lattice = evaluation.model.coarse_graining.chi0_pp(z, z.conj()).real
    return np.abs(evaluation.mesh.at_frequencies(g, n)) ** 2, chi0_lattice


def leading(block, joined, name, projectors):
    """Return the position of the leading physical eigenvalue of irrep `name` in the block of the irreps `joined`."""
    if "+" not in joined:
        return block.spurious
    for i in range(block.spurious, len(block.eigenvalues)):
        if irrep_of(block.gaps[i], projectors)[0] == name:
            return i
    raise RunError(f"Bethe-Salpeter equation: no gap function of irrep {name} in the block {joined}; "
                   "measure more, or more frequencies")


def windows(window):
    """Return the numbers of positive frequencies for which convergence is shown: a half, three quarters, all."""
    return sorted({max(1, window // 2), max(1, 3 * window // 4), window})


def high_frequency_sigma(evaluation, g):
    """Return U n/2 [K] from the density of the cluster's own G."""
    density = 2 / evaluation.model.cluster.size * evaluation.mesh.equal_time(g).sum()
    return np.full(evaluation.model.cluster.size, evaluation.model.U * density / 2)


def pairing_labels(evaluation, projectors, window):
    momenta = Axis("K", np.array(evaluation.model.cluster.momenta), "1/a")
    positive = Axis("omega", evaluation.mesh.frequency(np.arange(window)), "t")
    labels = {"lambda_window": {"axes": [Axis("frequencies", np.array(windows(window)))],
                                "convention": "lambda_d with that many positive frequencies kept"}}
    for name in projectors:
        short = short_name(name)
        labels[f"lambda_{short}"] = {"convention": f"leading pairing eigenvalue, irrep {name}, even in w"}
        labels[f"eigenvector_{short}"] = {"axes": [momenta, positive],
                                          "convention": "gap function of that eigenvalue, largest entry 1"}
    return labels


def channel_terms(evaluation, m, kind, q, m_index, window, g4):
    """Return the arguments of `bethe_salpeter.ladder` in a general channel: G4, chi0 of the cluster and of the lattice.

    g4 : ``[K, n, K', n']``.
    """
    cluster, mesh = evaluation.model.cluster, evaluation.mesh
    g, sigma = evaluation.dyson(m)
    constant = high_frequency_sigma(evaluation, g)
    n = np.arange(-window, window)
    partner = m_index - 1 - n if kind == "pp" else n + m_index
    on_lattice = evaluation.on_lattice(sigma)
    z, z_partner = on_lattice.z_at(sigma, constant, n), on_lattice.z_at(sigma, constant, partner)
    g_n, g_partner = mesh.at_frequencies(g, n), mesh.at_frequencies(g, partner)
    if kind == "pp":
        chi0_cluster = g_n * g_partner[cluster.momentum_difference[q]]
        chi0_lattice = evaluation.model.coarse_graining.chi0_pp(z, z_partner, q)
    else:
        chi0_cluster = -g_n * g_partner[cluster.momentum_sum[:, q]]
        chi0_lattice = -evaluation.model.coarse_graining.chi0_ph(z, z_partner, q)
    if kind == "charge" and q == 0 and m_index == 0:
        g4 = g4 - 2 * g_n[:, :, None, None] * g_n
    symmetry = evaluation.model.group.momentum_permutations[evaluation.model.group.leaving(q)]
    return bethe_salpeter.group_average(g4, symmetry), chi0_cluster, chi0_lattice


def modes(blocks, g4, chi0_cluster, chi0_lattice):
    """Return the modes of Gamma chi0 by block; NaN where noise leaves no solution."""
    try:
        return bethe_salpeter.ladder(g4, chi0_cluster, chi0_lattice, blocks)
    except (RunError, np.linalg.LinAlgError):
        return bethe_salpeter.unsolved(chi0_cluster.shape, blocks)


@region("Bethe-Salpeter: channel")
def modes_of_all_data(blocks, g4, chi0_cluster, chi0_lattice):
    """Return {block: (modes with all data, position of the leading physical one)}, which the samples follow.

    The physical mode comes behind those from divergences of the vertex.
    """
    return physical_modes(modes(blocks, g4, chi0_cluster, chi0_lattice), modes(blocks, g4, chi0_cluster, chi0_cluster))


def physical_modes(on_lattice, on_cluster):
    """Return {block: (modes on the lattice, position of the leading physical one)} from those of lattice and cluster.
    """
    return {name: (block, min(bethe_salpeter.above_one(on_cluster[name]), len(block.eigenvalues) - 1))
            for name, block in on_lattice.items()}


@region("Bethe-Salpeter: channel")
def channel(blocks, full, tag, g4, chi0_cluster, chi0_lattice):
    """Return the leading physical eigenvalues of every block and the vector of the first, ordered as with all data.
    """
    return leading_values(modes(blocks, g4, chi0_cluster, chi0_lattice), full, tag)


def leading_values(modes_by_block, full, tag):
    """Return what `channel` does, from {block: modes} and those of all data.

    Missing eigenvalues are NaN where the block has fewer.
    """
    values = {}
    for name, block in modes_by_block.items():
        reference_modes, physical = full[name]
        size = len(block.eigenvalues)
        block = block.following(reference_modes, min(physical + LEADING, size))
        where = place(tag, name)
        leading = block.eigenvalues[physical:]
        values[f"eigenvalues_{where}"] = np.append(leading, np.full(min(LEADING, size) - len(leading), np.nan))
        values[f"eigenvector_{where}"] = block.vectors[physical]
        values[f"lambda_{where}"] = block.eigenvalues[physical].real
    return values


def place(tag, block):
    """Return the end of the names of a block's observables, with the tag of its channel if it has one."""
    return "_".join(filter(None, (tag, short_name(block))))


def channel_labels(evaluation, blocks, window, tag):
    return labels_of_modes({name: round(np.trace(projector)) * 2 * window for name, projector in blocks.items()},
                           two_particle_axes(evaluation, window)[:2], tag)


def labels_of_modes(sizes, axes, tag):
    """Return the labels of `leading_values` for {block: number of its eigenvalues} and the axes of a vector."""
    labels = {}
    for name, size in sizes.items():
        where = place(tag, name)
        labels[f"lambda_{where}"] = {
            "convention": f"leading physical eigenvalue of Gamma chi0 in {name}, its real part"}
        labels[f"eigenvalues_{where}"] = {
            "axes": [Axis("eigenvalue", np.arange(min(LEADING, size)))],
            "convention": f"leading physical eigenvalues of Gamma chi0 in {name}, largest real part first"}
        labels[f"eigenvector_{where}"] = {
            "axes": axes, "convention": "eigenvector of the first of them, largest entry 1"}
    return labels


def two_particle_axes(evaluation, window, half=False):
    momenta = np.array(evaluation.model.cluster.momenta)
    both = evaluation.mesh.frequency(np.arange(-window, window))
    return [Axis("K", momenta, "1/a"), Axis("omega", both[window:] if half else both, "t"),
            Axis("K'", momenta, "1/a"), Axis("omega'", both, "t")]
