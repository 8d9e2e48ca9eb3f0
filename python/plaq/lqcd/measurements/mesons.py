"""Correlators of mesons, and sums over space for other correlators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.propagators import Propagator


def correlator(at_sites: np.ndarray, propagator: Propagator, momentum: Sequence[int] = (0, 0, 0)) -> np.ndarray:
    r"""Return $C(t) = \sum_{\mathbf x} e^{-2\pi i \mathbf k(\mathbf x - \mathbf y)/L} f(x)$, [t], complex.

    ``at_sites`` is f [t, x, y, z] on this rank's box. t counts from the source y of ``propagator``; the result is that
    of the whole lattice, on all ranks. Bits do not depend on ranks. momentum : integers k (x, y, z); see `Propagator`
    for the contribution of a spatial theta. Collective.
    """
    lattice = propagator.lattice
    if at_sites.shape != lattice.local:
        raise ValueError(f"a rank's part of the summand is {lattice.local}, not {at_sites.shape}")
    values = at_sites * sink_phases(lattice, propagator.source, [momentum])
    sums = lattice.call(_core.lqcd.slice_sums, lattice.context, lattice.layout, np.ascontiguousarray(values, complex))
    return np.roll(sums, -propagator.source[0])


def spin_tensors(propagator: Propagator, second: Propagator | None = None,
                 momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> np.ndarray:
    """Return `spin_tensor` for several momenta at once, [momentum, t, a, b, c, d]. Collective."""
    other = second or propagator
    check_lines(propagator, other, momenta)
    return spin_products(propagator.lattice, propagator.source, propagator.local, other.local, momenta)


def meson_correlators(propagator: Propagator, pairs: Sequence[tuple[str, str]], second: Propagator | None = None,
                      momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> np.ndarray:
    """Return the complex correlators of `meson_correlator`, [momentum, t, pair], without the whole tensor.

    pairs : structures at sink and source. Collective.
    """
    lattice, other = propagator.lattice, second or propagator
    check_lines(propagator, other, momenta)
    spins = propagator.local.shape[-2]
    K = np.array([np.einsum("ca,bd->abcd", gamma.GAMMA5 @ gamma_matrix(sink),
                            source_factor(gamma_matrix(source), spins)) for sink, source in pairs])
    sums = lattice.call(_core.lqcd.meson_sums, lattice.context, lattice.layout,
                        sink_phases(lattice, propagator.source, momenta), np.ascontiguousarray(propagator.local),
                        np.ascontiguousarray(other.local), K)
    return np.roll(sums, -propagator.source[0], axis=1)


def check_lines(propagator: Propagator, other: Propagator, momenta: Sequence[Sequence[int]]) -> None:
    """Raise InputError for propagators from different sources, and for momenta that their sources do not have."""
    if other.source != propagator.source or other.local.shape != propagator.local.shape:
        raise InputError("the two propagators of a meson start from the same site")
    for momentum in momenta:
        if propagator.momentum is not None and any(
                k != p - q for k, p, q in zip(momentum, propagator.momentum, other.momentum or (0, 0, 0))):
            raise InputError(f"a momentum {tuple(momentum)} needs the propagator of a point, or of a source with this "
                             "momentum")


def spin_products(lattice: Lattice, source: Sequence[int], left: np.ndarray, right: np.ndarray,
                  momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> np.ndarray:
    """Return the tensors of `spin_tensors` from arrays of this rank's box, with t from the ``source``. Collective."""
    tensor = lattice.call(_core.lqcd.spin_tensor, lattice.context, lattice.layout,
                          sink_phases(lattice, source, momenta), np.ascontiguousarray(left),
                          np.ascontiguousarray(right))
    return np.roll(tensor, -source[0], axis=1)


def spin_tensor(propagator: Propagator, second: Propagator | None = None,
                momentum: Sequence[int] = (0, 0, 0)) -> np.ndarray:
    r"""Return the spin tensor W of two propagators, [t, a, b, c, d], on all ranks.

    $W_{abcd}(t) = \sum_{\mathbf x} e^{-2\pi i \mathbf k(\mathbf x - \mathbf y)/L} \sum_{ij} S_{ai,bj}\,S'^*_{ci,dj}$.
    S = S(x, y) and S' have spins a ... d and colours i, j. t counts from the source. All mesons of the two propagators
    follow from it (`meson_correlator`). Bits do not depend on ranks.

    second : S', by default S. momentum : integers k (x, y, z); of a wall or noise, the difference of the momenta of
    both sources. InputError for propagators from different sources, and for another momentum. Collective.
    """
    return spin_tensors(propagator, second, [momentum])[0]


def meson_correlator(propagator: Propagator | np.ndarray, structure: str | np.ndarray = "gamma5",
                     second: Propagator | None = None, source: str | np.ndarray | None = None,
                     momentum: Sequence[int] = (0, 0, 0)) -> np.ndarray:
    r"""Return the correlator of a meson, [t], real.

    $C(t) = \sum_{\mathbf x} \mathrm{tr}\,[\Gamma S(x, y)\, \Gamma'^\times \gamma_5 S'(x, y)^+ \gamma_5]$ with
    $\Gamma^\times = \gamma_0\Gamma^+\gamma_0$, by default $\Gamma' = \Gamma$, and t counts from the source. Up to a
    sign it is the propagation of $\bar q\,\Gamma q'$. Positive for gamma5, where it is $\sum |S|^2$ (without the sign
    of $\gamma_0\gamma_5\gamma_0 = -\gamma_5$).

    propagator : S, or the `spin_tensor` of S and S', from which any number of mesons costs little. structure, source :
    $\Gamma$ and $\Gamma'$, each a name in `gamma.STRUCTURES` or a 4 x 4 matrix. second : S', of the antiquark, by
    default S. With a twisted mass $\gamma_5 S'^+ \gamma_5$ is the propagator for -mu, so the same S gives the charged
    pion of the doublet. momentum : as in `spin_tensor`. In lattice units, not divided by the volume, for $M = 1 -
    \kappa H + \dots$: times $(2\kappa)^2$ for fields normalised with the mass. Collective.
    """
    at_sink = gamma_matrix(structure)
    at_source = at_sink if source is None else gamma_matrix(source)
    W = spin_tensor(propagator, second, momentum) if isinstance(propagator, Propagator) else propagator
    return contract(W, at_sink, at_source).real


def contract(W: np.ndarray, at_sink: np.ndarray, at_source: np.ndarray) -> np.ndarray:
    """Return the complex correlators of `meson_correlator` from spin tensors [..., t, a, b, c, d].

    Noise with all spins in one column, with b and d of length one, is the source gamma5 alone.
    """
    # tr of gamma5 Gamma S Gamma^x gamma5 S'^+
    left, right = gamma.GAMMA5 @ at_sink, source_factor(at_source, W.shape[-1])
    return np.einsum("ca,bd,...abcd->...", left, right, W)


def source_factor(at_source: np.ndarray, spins: int = 4) -> np.ndarray:
    """Return Gamma^x gamma5 with the sign of `meson_correlator`; InputError if one column of all spins has no such."""
    factor = -gamma.GAMMA[0] @ at_source.conj().T @ gamma.GAMMA[0] @ gamma.GAMMA5
    if spins == 4:
        return factor
    if not np.allclose(factor, factor[0, 0] * np.eye(4)):
        raise InputError('noise without dilution in spin serves mesons with gamma5 at the source alone')
    return factor[:1, :1]


def sink_phases(lattice: Lattice, source: Sequence[int], momenta: Sequence[Sequence[int]]) -> np.ndarray:
    """Return exp(-2 pi i k (x - y) / L), [momentum, x, y, z], of this rank's sites."""
    out = []
    for momentum in momenta:
        if len(momentum) != 3 or any(int(k) != k for k in momentum):
            raise InputError(f"a momentum has three integers, in units of 2 pi / L, not {tuple(momentum)}")
        turns = [np.exp(-2j * np.pi * k * (np.arange(box.start, box.stop) - y) / n)
                 for k, box, y, n in zip(momentum, lattice.box[1:], source[1:], lattice.extents[1:])]
        out.append(np.einsum("x,y,z->xyz", *turns))
    return np.array(out)


def gamma_matrix(structure: str | np.ndarray) -> np.ndarray:
    """Return the matrix of a structure; InputError for an unknown name."""
    if not isinstance(structure, str):
        return structure
    if structure not in gamma.STRUCTURES:
        raise InputError(f"the structure {structure!r} is not one of {', '.join(gamma.STRUCTURES)}")
    return gamma.STRUCTURES[structure]
