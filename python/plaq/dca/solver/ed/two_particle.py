"""Exact two-particle functions of an isolated cluster, in the conventions of the stochastic solver.

With c_k = (beta Nc)^-1/2 int dtau sum_i e^{i w tau - i K.R_i} c_i(tau), c+_k likewise with the conjugate phase,
one auxiliary-field configuration has G_s(k, k') = -<T c_k c+_k'>, and <G_s(k, k')> = delta_kk' G(k). By Wick:

With orbitals k stands for (k, b) and k' for (k', b') in the particle-hole channels, for (k, a) and (k', a') in pp.

    pp          <G_up(k,k') G_dn(q-k,q-k')>         =  <T c_k,up c+_k',up c_q-k,dn c+_q-k',dn>
    transverse  -<G_up(k,k') G_dn(k'+q,k+q)>        = -<T c_k,up c+_k',up c_k'+q,dn c+_k+q,dn>
    magnetic    1/2 sum_ss' s s' <G_s(k+q,k) G_s'(k',k'+q)> - 1/2 sum_s <G_s(k',k) G_s(k+q,k'+q)>
                                                    = 1/2 sum_ss' s s' <T c+_ks c_k+q,s c+_k'+q,s' c_k's'>
    charge      the same without s s' (the disconnected part 2 delta_q0 G(k) G(k') is left in)

The time-ordered integral of four operators O1..O4 with frequencies W1..W4 (+w of c_k, -w of c+_k, sum zero) is a
divided difference of exp(-beta z) at E_a, E_b - i W1, E_c - i(W1 + W2), E_d + i W4 (Hermite-Genocchi). Its partial
fractions, over all orderings, are one sum over the 24 permutations p of the operators, with w_a = e^{-beta E_a}/Z:

    G4 = -1/beta sum_p sgn(p) sum_abcd w_a O1_ab O2_bc O3_cd O4_da
                                       / ((E_a - E_b + i W1) (E_a - E_c + i(W1 + W2)) (E_a - E_d - i W4)).

W1 and W4 are fermionic; only the middle denominator can vanish, W1 + W2 = 0 with E_a = E_c. Then the pair of terms
anchored at a and at c is (h(E_a) - h(E_c))/(E_a - E_c) -> (h'(E_a) + h'(E_c))/2 with h = w L R, L and R the sums
over b and d; it is right to (E_a - E_c)^2, and each anchor takes its half.
"""

from itertools import combinations, product

import numpy as np

from plaq.dca.solver.ed.cluster import NEGLIGIBLE
from plaq.dca.solver.ed.fock import DN, UP
from plaq.errors import InputError

CHANNELS = ("pp", "transverse", "magnetic", "charge")
DEGENERATE = 1e-6  # levels closer than this (units of t) count as equal: error 1e-12, by cancellation 1e-10


def two_particle(cluster, channel, q, m, n):
    """Return G4(K, w; K', w') as complex [K, w, K', w'] at momentum index q, nu = 2 pi m/beta, w = (2n+1) pi/beta.

    With orbitals it is [K, a, b, w, K', a', b', w'], rows and columns being pairs: (k, a) and (q - k, b) in pp, (k + q,
    a) and (k, b) in the other channels.
    channel: "pp", "transverse", "magnetic" or "charge" as defined above; n: integers of any sign, for w and w'.
    The cluster needs its Fourier matrix. Plain averages of products of G, no factor beta or Nc: the disconnected
    part is delta_kk' G(k) G(q-k) in pp, -delta_kk' G(k) G(k+q) in the particle-hole channels. Raises InputError.
    """
    if cluster.spectrum.group is None:
        raise InputError("fourier: two-particle functions need the Fourier matrix of the cluster")
    if channel not in CHANNELS:
        raise InputError(f"channel = {channel!r}: expected one of {', '.join(CHANNELS)}")
    if channel == "transverse" and cluster.spectrum.orbitals > 1:
        raise InputError('channel = "transverse": with orbitals it is "magnetic", by rotation of the spins')
    if not 0 <= q < cluster.sites:
        raise InputError(f"q = {q}: expected a momentum index from 0 to {cluster.sites - 1}")
    correlator = FourPoint(cluster, int(m), np.asarray(n, int))
    add, minus, b = cluster.spectrum.group.add, cluster.spectrum.group.minus, cluster.spectrum.orbitals
    frequencies = len(correlator.odd)
    pairs = [(k, i, j) for k in range(cluster.sites) for i in range(b) for j in range(b)]

    def modes(k, i, j):
        """Return modes of both operators of a pair, that with k first."""
        if channel == "pp":
            return k * b + i, add[q, minus[k]] * b + j
        return k * b + j, add[q, k] * b + i

    g4 = np.zeros(2 * (len(pairs), frequencies), complex)
    for x, row in enumerate(pairs):
        for y, column in enumerate(pairs):
            g4[x, :, y, :] = _element(correlator, channel, modes(*row), modes(*column))
    return g4.reshape(2 * ((cluster.sites, frequencies) if b == 1 else (cluster.sites, b, b, frequencies)))


def _element(four, channel, row, column):
    """Return the element of one pair of modes k, Q (q - k or k + q) of a row and of a column.

    Operators: (is c+, spin, mode, axis 0 for w or 1 for w', frequency).
    """
    odd, nu = four.odd, four.nu
    (k, other), (p, other_p) = row, column
    if channel == "pp":
        return four(((False, UP, k, 0, odd), (True, UP, p, 1, -odd),
                     (False, DN, other, 0, nu - odd), (True, DN, other_p, 1, odd - nu)))
    if channel == "transverse":
        return -four(((False, UP, k, 0, odd), (True, UP, p, 1, -odd),
                      (False, DN, other_p, 1, odd + nu), (True, DN, other, 0, -odd - nu)))
    same, opposite = (four(((True, UP, k, 0, -odd), (False, UP, other, 0, odd + nu),
                            (True, spin, other_p, 1, -odd - nu), (False, spin, p, 1, odd))) for spin in (UP, DN))
    return same - opposite if channel == "magnetic" else same + opposite


class FourPoint:
    """Sums the Lehmann representation for one transfer frequency and one list of fermionic frequencies."""

    def __init__(self, cluster, m, n):
        self.cluster, self.spectrum = cluster, cluster.spectrum
        self.odd, self.nu = 2 * n + 1, 2 * m  # frequencies in units of pi/beta
        self.unit = np.pi / cluster.beta
        self.anchors = [a for a, w in enumerate(cluster.weights) if w.max() > NEGLIGIBLE]
        self.matrices = {}

    def __call__(self, operators):
        """Return <T O1 O2 O3 O4> at all pairs of frequencies, [w, w'].

        Of the 24 permutations, four have the same two operators first: they share c and the middle denominator.
        """
        total = np.zeros(2 * (self.odd.size,), complex)
        for i, j in combinations(range(4), 2):
            first = operators[i], operators[j]
            last = tuple(operators[x] for x in range(4) if x not in (i, j))
            values, index = np.unique(_grid(*first), return_inverse=True)
            sign = (-1) ** (i + j - 1)  # of the permutation i, j, last
            for a in self.anchors:
                total += sign * self._terms(a, first, last, values, index.reshape(total.shape))
        return -total / self.cluster.beta

    def _matrix(self, operator, bra):
        """Return (ket block, O[bra, ket]) of c or c+ with a spin and a mode."""
        key = operator, bra
        if key not in self.matrices:
            creates, spin, k = operator
            s = self.spectrum
            if creates:  # <bra|c+|ket> = <ket|c|bra>*
                ket = s.target(k, spin, bra)
                matrix = None if ket is None else s.annihilate(k, spin, bra).conj().T
            else:
                ket = s.source(k, spin, bra)
                matrix = None if ket is None else s.annihilate(k, spin, ket)
            self.matrices[key] = ket, matrix
        return self.matrices[key]

    def _terms(self, a, first, last, values, index):
        """Return the terms of block a with either order of the operators O1, O2 and either order of O3, O4.

        ``values[index]`` are W1 + W2 [w, w'] in units of pi/beta.
        """
        keep = self.cluster.weights[a] > NEGLIGIBLE
        weight, e_a = self.cluster.weights[a][keep, None], self.cluster.levels[a][keep, None]
        c, left_paths = self._left_paths(a, first)
        right_paths = self._right_paths(c, last)
        if not left_paths or not right_paths:
            return 0
        gap = e_a - self.cluster.levels[c]
        flat, zero = np.abs(gap) < DEGENERATE, values == 0
        vanishes = zero.any() and flat.any()
        middle = gap + 1j * self.unit * values[:, None, None]
        if vanishes:
            middle[zero] = np.where(flat, -2 / self.cluster.beta, gap)
        lefts = self._halves(e_a, keep, left_paths, vanishes, weight)
        rights = self._halves(e_a, keep, right_paths, vanishes)
        term, slope = 0, 0
        inner, half = 1 / middle, 0.5 * flat[None]
        for (axis1, (left, left_slope)), (axis4, (right, right_slope)) in product(lefts.items(), rights.items()):
            term = term + _contract(left, inner, right, axis1, axis4, index)
            if vanishes:
                slope = slope + sum(_contract(x, half, y, axis1, axis4, np.zeros_like(index))
                                    for x, y in ((left_slope, right), (left, right_slope)))
        return term + np.where(zero[index], slope, 0)

    def _left_paths(self, a, operators):
        """Return c, and for each order (sign, axis and W of O1, block b, O1_ab, O2_bc), if neither gives zero."""
        last, paths = None, []
        for (o1, o2), sign in ((operators, 1), (operators[::-1], -1)):
            b, one = self._matrix(o1[:3], a)
            c, two = (None, None) if b is None else self._matrix(o2[:3], b)
            if c is not None:
                last = c
                paths.append((sign, o1[3], o1[4], b, one, two))
        return last, paths

    def _right_paths(self, c, operators):
        """Return for each order (sign, axis and -W of O4, block d, O4_da and O3_cd turned) if neither gives zero."""
        paths = []
        for (o3, o4), sign in ((operators, 1), (operators[::-1], -1)):
            d, three = (None, None) if c is None else self._matrix(o3[:3], c)
            a, four = (None, None) if d is None else self._matrix(o4[:3], d)
            if a is not None:
                paths.append((sign, o4[3], -o4[4], d, four.T, three.T))
        return paths

    def _halves(self, e_a, keep, paths, slopes, weight=1.0):
        """Return sums of sign weight_a one_ab two_bc/(E_a - E_b + i W), [W, a, c], by the axis of W.

        Beside each its derivative by E_a, where ``slopes`` asks for it.
        """
        halves = {}
        for sign, axis, frequency, b, one, two in paths:
            pole = 1 / (e_a - self.cluster.levels[b] + 1j * self.unit * frequency[:, None, None])
            found = halves.setdefault(axis, [0, 0])
            one = sign * weight * one[keep] * pole
            found[0] = found[0] + one @ two
            if slopes:
                found[1] = found[1] - (one * pole) @ two
        return halves


def _grid(o1, o2):
    """Return w1 + W2 as integers [w, w']."""
    f1, f2 = (o[4][:, None] if o[3] == 0 else o[4][None, :] for o in (o1, o2))
    size = o1[4].size
    return np.broadcast_to(f1 + f2, (size, size))


def _contract(left, inner, right, axis1, axis4, index):
    """Return sum_ac left[., a, c] inner[index(w, w'), a, c] right[., a, c] as [w, w'], left and right on their axes."""
    size = len(left)
    left, right, inner = (x.reshape(len(x), -1) for x in (left, right, inner))
    if axis1 == axis4:  # left and right share a frequency
        table = (left * right) @ inner.T
        rows = np.arange(size)
        return table[rows[:, None] if axis1 == 0 else rows[None, :], index]
    if axis1 == 1:
        left, right = right, left
    if len(inner) == 1:
        return (left * inner) @ right.T
    return np.einsum("wx,vx,wvx->wv", left, right, inner[index])
