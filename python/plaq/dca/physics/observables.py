"""From the bins of the solver to physical quantities: each a mean and an error by jackknife through the whole
chain."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from plaq import _core
from plaq.data import statistics
from plaq.data.estimate import Axis, Estimate
from plaq.dca.lattice.chemical_potential import find_mu
from plaq.dca.lattice.symmetry import irrep_blocks, irrep_of, irrep_projectors
from plaq.dca.physics import bethe_salpeter
from plaq.dca.physics.checks import HEAVY, SLOW
from plaq.dca.physics.free import without_noise
from plaq.dca.solver import groups
from plaq.dca.solver.choices import MEASURED_AS, measured_functions
from plaq.dca.solver.ctaux import Measured, dyson
from plaq.dca.solver.shares import Shares, SpreadEstimate, pair_functions
from plaq.errors import RunError
from plaq.trace.session import region

IRREP_NAMES = {"d_x2y2": "d", "d_xy": "dxy"}  # as in lambda_d; other irreps keep their name
TAU_POINTS = 65
TAILS = "heavy tails: errors of single numbers may be several times too small"
UNSOLVED = "noise leaves the equation without a solution in some of the jackknife samples: measure more"
NEGATIVE = "negative_"  # before the name of an eigenvalue: how many of the pairing function are below 0 in its irrep
ROUNDING = {"density": 1e-5, "spin_square": 1e-5, "charge_square": 1e-5}  # in the time series
CAUSAL = 0.1  # Im Sigma over w that lattice functions bear: coarse graining is good to 1e-8 up to 0.2
LEADING = 3  # eigenvalues that are kept of every general channel


@dataclass
class Setting:
    """What stays fixed while one set of bins is evaluated."""

    cluster: object
    group: object
    mesh: object
    coarse_graining: object  # None where all is exact
    U: float
    K: float
    mu: float
    g0: np.ndarray  # [K, w] auxiliary bath function
    reference: np.ndarray | float = 0.0  # Sigma_0 of `InBath`, [K, w]
    density: float | None = None  # that mu is searched for

    def sample(self, w, ratio, inverse_g0):
        """(the setting, m) of one jackknife sample, from the sums of `InBath` and of the norm."""
        g0 = w / inverse_g0
        green = ratio / w / (inverse_g0 / w - self.reference)
        return replace(self, g0=g0), (g0 - green) / g0**2

    def hartree(self, density):
        """What Sigma lacks of the Hartree term at the density that is asked for, which at self-consistency is that of
        the cluster; as it is, an error dn of the cluster's density is one of U dn/2 of Sigma, and in the loop of mu."""
        return 0.0 if self.density is None else self.U / 2 * (self.density - density)

    def on_lattice(self, sigma):
        """The setting with the mu at which the lattice with this Sigma has the density that is asked for."""
        if self.density is None:
            return self
        return replace(self, mu=find_mu(self.density, self.coarse_graining, self.mesh,
                                        causal(sigma, self.mesh.omega), self.mu))

    def lattice_z(self, sigma):
        """iw + mu - Sigma on the mesh."""
        return 1j * self.mesh.omega + self.mu - causal(sigma, self.mesh.omega)

    def z_at(self, sigma, constant, n):
        """z [K, n] at the Matsubara indices n of both signs; `constant` [K] is Sigma at infinite frequency."""
        n = np.asarray(n)
        values = self.mesh.at_frequencies(sigma - constant[:, None], n) + constant[:, None]
        upper = np.where(n < 0, values.conj(), values)
        omega = self.mesh.frequency(np.abs(n + 0.5) - 0.5)
        z = 1j * omega + self.mu - causal(upper, omega)
        return np.where(n < 0, z.conj(), z)


def causal(sigma, omega):
    """Sigma with Im Sigma <= w/10 at w > 0, so that lattice functions can be made of it.

    Every exact Sigma has Im Sigma <= 0. Noise around 0 is left as it is: cut off there its mean would not be 0, and
    samples of a jackknife would be cut off in another way than their mean.
    """
    return sigma.real + 1j * np.minimum(sigma.imag, CAUSAL * omega)


def short_name(block):
    """Of an irrep, or of several joined by "+", as names of observables carry it: "s+d_x2y2" is "s+d"."""
    return "+".join(IRREP_NAMES.get(name, name) for name in block.split("+"))


def pair_orbits(group):
    """Block number [K, K'] of the pairing function, equal for pairs that the point group maps onto each other."""
    size = group.cluster.size
    pair = np.arange(size * size).reshape(size, size)
    smallest = np.min([pair[p][:, p] for p in group.momentum_permutations], axis=0)
    return np.unique(smallest, return_inverse=True)[1].reshape(size, size)


@region("self-energy")
def self_energy(setting, measured):
    """Sigma [K, w] for the next iteration and the density, both `Resampled`: cheap enough for every iteration."""
    own = measured.in_bath(setting.g0, setting.reference)

    def function(w, g, f, n):
        here, m = setting.sample(w, g, f)
        return {"Sigma": dyson(here.g0, m, setting.U)[1] + setting.hartree(n / w), "density": n / w}

    found = statistics.jackknife(function, measured.norm, own.ratio, own.inverse_g0,
                                 measured.correlations["density"], weights=measured.weights)
    return found["Sigma"], found["density"]


def autocorrelation(measured):
    """Integrated autocorrelation times {name: measurements} of what changes at all;
    inf where the series is too short, but where most configurations have no vertex, at which a chain forgets all.

    With particle-hole symmetry the density may be 1 in every configuration, up to rounding: that is no change.
    """
    changing = {name: measured.series[..., i] for i, name in enumerate(_core.dca.series_columns)
                if np.ptp(measured.series[..., i]) > ROUNDING.get(name, 0)}
    times = {name: statistics.autocorrelation_time(series)[0] for name, series in changing.items()}
    forgets = measured.histogram[:, 0].mean() > 0.5
    return {name: time for name, time in times.items() if np.isfinite(time) or not forgets}


def sweeps_between_independent(measured, sweeps_per_measurement):
    """Decay time in sweeps of the slowest of `SLOW`, ⟨k⟩ aside; None where it is not known.

    A correlation exp(-t/tau) seen every e sweeps has the integrated time 1/2 coth(e / 2 tau): tau follows from that.
    """
    times = autocorrelation(measured)
    known = [times[name] for name in SLOW if name != "expansion_order" and np.isfinite(times.get(name, np.inf))]
    if not known:
        return None
    integrated = max(*known, 0.501)  # 1/2 is no correlation at all
    return float(sweeps_per_measurement / (2 * np.arctanh(1 / (2 * integrated))))


@region("estimates")
def estimates(setting: Setting, measured: Measured, window=0, channels=(), starmap=itertools.starmap,
              shares: Shares | None = None, between: Callable[[], None] = lambda: None
              ) -> dict[str, Estimate | SpreadEstimate]:
    """All observables of a temperature by name; see docs/conventions.md for each formula.

    channels : two-particle functions (kind, transfer index, bosonic index) that are wanted; `measured` has those of
    `measured_functions`.
    starmap : evaluates the samples of two-particle functions; ranks that all have `measured` may share them
    (Communicator.starmap). With `shares` they do so in any case, and these functions are `SpreadEstimate`s.
    between : called on all ranks after each sample; what it raises ends the work.
    """
    taus = autocorrelation(measured)
    slowest = max((taus[name] for name in SLOW if name in taus), default=None)
    apart = measured.chains >= len(measured.weights)  # each bin has chains of its own: independent, however short
    note = statistics.unsupported(measured.weights, measured.sign, None if apart else slowest, measured.parts,
                                  measured.chains, groups.FEWEST if apart else statistics.MINIMUM_BINS)
    places = measured_functions(channels)
    functions = pair_functions(window, setting.cluster.size,
                               None if measured.pairing is None else pair_orbits(setting.group), len(places))
    on_ranks = with_breaks(shares.starmap if shares else starmap, between)
    found = {}

    def add(labels, function, *binned, starmap=itertools.starmap):
        resampled = statistics.jackknife(function, measured.norm, *binned, weights=measured.weights, starmap=starmap,
                                         chains=measured.chains)
        for name, value in resampled.items():
            if name in labels:
                unsolved = "" if np.all(np.isfinite(value.error)) else UNSOLVED
                found[name] = value.estimate(name, tau_int=taus.get(name), note=note or unsolved, **labels[name])
                found[name].note = found[name].note or crossed(resampled.get(f"{NEGATIVE}{name}"))

    def add_function(name, function, rows, axes, convention):
        """The two-particle function itself: row by row, wherever the rows are."""
        value = statistics.jackknife(lambda w, g4: g4 / w, measured.norm, rows, weights=measured.weights, keep=False,
                                     chains=measured.chains)
        error = statistics.no_error(value.mean) if note else value.error
        whole = (value.mean, error) if shares else (function.whole(value.mean), function.whole(error))
        kind = (partial(SpreadEstimate, comm=shares.comm, function=function) if shares else
                partial(Estimate, disagreement=value.disagreement, kurtosis=value.kurtosis))
        found[name] = kind(name=name, mean=whole[0], error=whole[1], axes=tuple(axes), unit="1/t^2",
                           convention=convention, note=note)

    names = list(measured.correlations)
    own = measured.in_bath(setting.g0, setting.reference)
    bath = own.ratio, own.inverse_g0
    add(single_particle_labels(setting), lambda w, g, f, s, order, *sums: single_particle(
        *setting.sample(w, g, f), s, order / s, {name: value / w for name, value in zip(names, sums)}),
        *bath, measured.sign, measured.order, *measured.correlations.values())
    for name, least in one_configuration(setting, measured.weights.sum()).items():
        found[name] = replace(found[name], error=np.maximum(found[name].error, least))
    histogram = statistics.jackknife(lambda h: h, measured.histogram, weights=measured.weights)
    axes = [Axis("k", np.arange(measured.histogram.shape[1]))]
    found["order_histogram"] = histogram.estimate("order_histogram", axes, note=note,
                                                  convention="probability of k vertices, not weighted by the sign")
    if measured.pairing is not None:
        function = functions["pairing"]
        projectors, blocks = irrep_projectors(setting.cluster), irrep_blocks(setting.cluster)
        evaluate = lambda w, g, f, g4: pairing(*setting.sample(w, g, f), projectors, blocks,
                                                   function.whole(g4 / w))
        add(pairing_labels(setting, projectors, window), evaluate, *bath, measured.pairing, starmap=on_ranks)
        add_function("G4_pp", function, measured.pairing, two_particle_axes(setting, window, half=True), PAIRING)
    for kind, q, m_index in channels:
        i = places.index((MEASURED_AS.get(kind, kind), q, m_index))
        tag, function, values = f"{kind}_q{q}_m{m_index}", functions[f"channel_{i}"], measured.channels[i]
        blocks = irrep_blocks(setting.cluster, q)
        terms = lambda w, g, f, g4: channel_terms(*setting.sample(w, g, f), kind, q, m_index, window,
                                                      function.whole(g4 / w))
        whole = [statistics.weighted_average(a, measured.weights) for a in (measured.norm, *bath, values)]
        full = next(on_ranks(lambda *sums: reference(blocks, *terms(*sums)), [whole]))
        add(channel_labels(setting, blocks, window, tag), lambda *sums: channel(blocks, full, tag, *terms(*sums)),
            *bath, values, starmap=on_ranks)
        add_function(f"G4_{tag}", function, values, two_particle_axes(setting, window), CHANNELS[kind])
    return marked(found | without_noise(found, setting) if setting.U == 0 else found)


def marked(found):
    """With a note on what has heavy tails, and if a two-particle function or its eigenvalue has them, on all of
    these: the same configurations make all large, and which number has met them is chance."""
    heavy = {name for name, e in found.items() if (getattr(e, "kurtosis", None) or 0.0) > HEAVY
             and not name.startswith(("sign", "order_histogram", "eigenv"))}  # samples may order eigenvectors anew
    pairs = {name for name in found if name.startswith(("G4_", "lambda_", "eigenv"))}
    heavy |= pairs if heavy & pairs else set()
    return {name: replace(e, note=TAILS) if name in heavy and not e.note else e for name, e in found.items()}


def crossed(negative):
    """Say that samples have another number of negative eigenvalues than all data. The physical
    eigenvalue is counted behind them in each sample, so it has its error all the same."""
    if negative is None or negative.values is None:
        return ""
    others = int(np.count_nonzero(negative.values != negative.mean))
    return (f"{others} of {len(negative.values)} jackknife samples have another number of negative eigenvalues of the "
            "pairing function than all data: the vertex diverges near here" if others else "")


def one_configuration(setting, measurements):
    """What one configuration of another total S^z or N would have added, by name: the least error there is.
    Without a bath both are conserved; a sector that was never met leaves means of exactly 0,
    whose bins do not scatter."""
    least = 1 / (setting.cluster.size * measurements)
    at_zero = setting.mesh.beta * least * np.isclose(np.abs(setting.cluster.momenta).sum(axis=1), 0)
    return {"spin_square": least, "charge_square": least, "spin_susceptibility": at_zero,
            "charge_susceptibility": at_zero}


def with_breaks(starmap, between):
    """`starmap`, but `between` is called after each of its values."""
    def mapped(function, samples):
        for value in starmap(function, samples):
            between()
            yield value

    return mapped


def single_particle(setting, m, sign, order, sums):
    """Everything that needs no two-particle function, from sign-free averages."""
    cluster, mesh, U = setting.cluster, setting.mesh, setting.U
    beta = mesh.beta
    g, sigma = dyson(setting.g0, m, U)
    density, docc, holes = sums["density"], sums["double_occupancy"], sums["equal_time"]
    sigma = sigma + setting.hartree(density)
    here, filling = setting.on_lattice(sigma), density if setting.density is None else setting.density
    if setting.coarse_graining.isolated:  # G at low frequencies has many times the noise of n_K
        kinetic = 2 / cluster.size * cluster.energies @ (1 - holes)
    else:
        kinetic = 2 / cluster.size * mesh.equal_time(here.coarse_graining.eps_gbar(here.lattice_z(sigma))).sum()
    expected_order = setting.K + beta * U * cluster.size * (density / 2 - docc)
    return {
        "sign": sign, "mu": here.mu, "density": density, "double_occupancy": docc, "expansion_order": order,
        "order_identity": order - expected_order,
        "energy_kinetic": kinetic, "energy_potential": U * docc, "energy": kinetic + U * docc,
        "G": g, "Sigma": sigma,
        "Sigma_infinity": np.full(cluster.size, U * filling / 2),
        "Sigma_moment": np.full(cluster.size, U**2 * filling / 2 * (1 - filling / 2)),
        "G_tau": mesh.at_tau(g, np.linspace(0, beta, TAU_POINTS), ends=np.stack([-holes, holes - 1], axis=-1)),
        "spin_square": sums["spin"].sum(), "charge_square": sums["charge"].sum() - cluster.size * density**2,
        "spin_correlation": sums["spin"], "charge_correlation": sums["charge"] - density**2,
        "spin_susceptibility": cluster.to_momenta(sums["static_spin"]).real,
        "charge_susceptibility": cluster.to_momenta(sums["static_charge"] - beta * density**2).real,
    }


def single_particle_labels(setting):
    momenta = Axis("K", np.array(setting.cluster.momenta), "1/a")
    sites = Axis("R", np.array(setting.cluster.sites), "a")
    k_w = [momenta, Axis("omega", setting.mesh.omega, "t")]
    k_tau = [momenta, Axis("tau", np.linspace(0, setting.mesh.beta, TAU_POINTS), "1/t")]
    isolated = setting.coarse_graining is None or setting.coarse_graining.isolated
    return {
        "sign": {"convention": "average sign of the configurations' weights"},
        "mu": {"unit": "t",
               "convention": "chemical potential: given, or that of the lattice with Sigma and the wanted density"},
        "density": {"convention": "<n_up + n_down> per site"},
        "double_occupancy": {"convention": "<n_up n_down> per site"},
        "expansion_order": {"convention": "<k>, vertices in a configuration"},
        "order_identity": {"convention": "<k> - K - beta U N_c (n/2 - D); zero within errors in a correct run"},
        "energy_kinetic": {"unit": "t", "convention": "2/N_c sum_K eps_K n_K, per site" if isolated else
                           "2 T/N_c sum_K,w <eps G>_patch e^(iw0+), per site"},
        "energy_potential": {"unit": "t", "convention": "U <n_up n_down>, per site"},
        "energy": {"unit": "t", "convention": "kinetic + potential, per site, without -mu n"},
        "G": {"axes": k_w, "unit": "1/t", "convention": "cluster G(K, iw), w > 0 sampling points; G(-iw) = G(iw)*"},
        "Sigma": {"axes": k_w, "unit": "t", "convention": "1/bath - 1/G with the Hartree term U n/2, n as asked for"},
        "Sigma_infinity": {"axes": [momenta], "unit": "t", "convention": "U n/2: Sigma at infinite frequency"},
        "Sigma_moment": {"axes": [momenta], "unit": "t^2",
                         "convention": "U^2 n/2 (1 - n/2): coefficient of 1/(iw) in Sigma"},
        "G_tau": {"axes": k_tau,
                  "convention": "G(K, tau) = -<T c(tau) c+(0)>; ends, 0+ and beta-, by n_K at equal times"},
        "spin_square": {"convention": "<(sum_i S^z_i)^2>/N_c, equal times"},
        "charge_square": {"convention": "(<(sum_i n_i)^2> - <sum_i n_i>^2)/N_c, equal times"},
        "spin_correlation": {"axes": [sites], "convention": "<S^z_R S^z_0>, equal times"},
        "charge_correlation": {"axes": [sites], "convention": "<n_R n_0> - n^2, equal times"},
        "spin_susceptibility": {"axes": [momenta], "unit": "1/t",
                                "convention": "int_0^beta dtau <S^z(tau) S^z> at q = K on the cluster, per site"},
        "charge_susceptibility": {"axes": [momenta], "unit": "1/t",
                                  "convention": "int_0^beta dtau <n(tau) n>_connected at q = K, per site"},
    }


@region("Bethe-Salpeter: pairing")
def pairing(setting, m, projectors, blocks, g4):
    """Leading pairing eigenvalues and gap functions of every irrep, from G4 [K, w > 0, K', w'].

    The equation is solved in each block that symmetry keeps apart; where a small point group joins irreps in one
    block, an eigenvalue belongs to the irrep that holds most of its gap function.
    """
    g, sigma = dyson(setting.g0, m, setting.U)
    window = g4.shape[1]
    n = np.arange(window)
    z = setting.on_lattice(sigma).z_at(sigma, high_frequency_sigma(setting, g), n)
    chi0_lattice = setting.coarse_graining.chi0_pp(z, z.conj()).real
    chi0_cluster = np.abs(setting.mesh.at_frequencies(g, n)) ** 2
    g4 = bethe_salpeter.symmetrised(g4, setting.group.momentum_permutations)

    def solve(joined, name, w):
        """(eigenvalue, gap function, how many eigenvalues of G4 are negative) of one irrep with w frequencies kept; NaN
        where noise leaves no solution."""
        inner = bethe_salpeter.narrowed(g4, chi0_cluster, chi0_lattice, w)
        try:
            block = bethe_salpeter.pairing(*inner, {joined: blocks[joined]})[joined]
            i = leading(block, joined, name, projectors)
        except (RunError, np.linalg.LinAlgError):
            return np.nan, np.full((setting.cluster.size, w), np.nan), np.nan
        return block.eigenvalues[i], block.gaps[i], block.spurious

    found = {}
    for joined in blocks:
        for name in joined.split("+"):
            short = short_name(name)
            found[f"lambda_{short}"], found[f"eigenvector_{short}"], found[f"{NEGATIVE}lambda_{short}"] = solve(
                joined, name, window)
            if name == "d_x2y2":
                found["lambda_window"] = np.array([solve(joined, name, w)[0] for w in windows(window)])
    return found


def leading(block, joined, name, projectors):
    """Position of the leading physical eigenvalue of irrep `name` in the block of the irreps `joined`."""
    if "+" not in joined:
        return block.spurious
    for i in range(block.spurious, len(block.eigenvalues)):
        if irrep_of(block.gaps[i], projectors)[0] == name:
            return i
    raise RunError(f"Bethe-Salpeter equation: no gap function of irrep {name} in the block {joined}; "
                   "measure more, or more frequencies")


def windows(window):
    """Numbers of positive frequencies for which convergence is shown: a half, three quarters, all."""
    return sorted({max(1, window // 2), max(1, 3 * window // 4), window})


def high_frequency_sigma(setting, g):
    """U n/2 [K] from the density of the cluster's own G."""
    density = 2 / setting.cluster.size * setting.mesh.equal_time(g).sum()
    return np.full(setting.cluster.size, setting.U * density / 2)


def pairing_labels(setting, projectors, window):
    momenta = Axis("K", np.array(setting.cluster.momenta), "1/a")
    positive = Axis("omega", setting.mesh.frequency(np.arange(window)), "t")
    labels = {"lambda_window": {"axes": [Axis("frequencies", np.array(windows(window)))],
                                "convention": "lambda_d with that many positive frequencies kept"}}
    for name in projectors:
        short = short_name(name)
        labels[f"lambda_{short}"] = {"convention": f"leading pairing eigenvalue, irrep {name}, even in w"}
        labels[f"eigenvector_{short}"] = {"axes": [momenta, positive],
                                          "convention": "gap function of that eigenvalue, largest entry 1"}
    return labels


PAIRING = "Re <G_up(k,k') G_down(k,k')*>, q = 0, nu = 0; rows w > 0"
CHANNELS = {
    "pp": "<G_up(k,k') G_down(q-k,q-k')>",
    "magnetic": "1/2 sum_ss' s s' <G_s(k+q,k) G_s'(k',k'+q)> - 1/2 sum_s <G_s(k',k) G_s(k+q,k'+q)>",
    "charge": "1/2 sum_ss' <G_s(k+q,k) G_s'(k',k'+q)> - 1/2 sum_s <G_s(k',k) G_s(k+q,k'+q)>",
    "transverse": "-<G_up(k,k') G_down(k'+q,k+q)>, measured as the magnetic one, which it equals",
}


def channel_terms(setting, m, kind, q, m_index, window, g4):
    """G4, chi0 of the cluster and chi0 of the lattice in a general channel, as `bethe_salpeter.ladder` takes them,
    from G4 [K, n, K', n']."""
    cluster, mesh = setting.cluster, setting.mesh
    g, sigma = dyson(setting.g0, m, setting.U)
    constant = high_frequency_sigma(setting, g)
    n = np.arange(-window, window)
    partner = m_index - 1 - n if kind == "pp" else n + m_index
    here = setting.on_lattice(sigma)
    z, z_partner = here.z_at(sigma, constant, n), here.z_at(sigma, constant, partner)
    g_n, g_partner = mesh.at_frequencies(g, n), mesh.at_frequencies(g, partner)
    if kind == "pp":
        chi0_cluster = g_n * g_partner[cluster.momentum_difference[q]]
        chi0_lattice = setting.coarse_graining.chi0_pp(z, z_partner, q)
    else:
        chi0_cluster = -g_n * g_partner[cluster.momentum_sum[:, q]]
        chi0_lattice = -setting.coarse_graining.chi0_ph(z, z_partner, q)
    if kind == "charge" and q == 0 and m_index == 0:
        g4 = g4 - 2 * g_n[:, :, None, None] * g_n
    symmetry = setting.group.momentum_permutations[setting.group.leaving(q)]
    return bethe_salpeter.group_average(g4, symmetry), chi0_cluster, chi0_lattice


def modes(blocks, g4, chi0_cluster, chi0_lattice):
    """Of Gamma chi0 {block: modes}; NaN where noise leaves no solution."""
    try:
        return bethe_salpeter.ladder(g4, chi0_cluster, chi0_lattice, blocks)
    except (RunError, np.linalg.LinAlgError):
        return bethe_salpeter.unsolved(chi0_cluster.shape, blocks)


@region("Bethe-Salpeter: channel")
def reference(blocks, g4, chi0_cluster, chi0_lattice):
    """What the samples follow, {block: (modes with all data, position of the leading physical one)}: behind those
    that come from divergences of the vertex."""
    on_cluster = modes(blocks, g4, chi0_cluster, chi0_cluster)
    return {name: (block, min(bethe_salpeter.above_one(on_cluster[name]), len(block.eigenvalues) - 1))
            for name, block in modes(blocks, g4, chi0_cluster, chi0_lattice).items()}


@region("Bethe-Salpeter: channel")
def channel(blocks, full, tag, g4, chi0_cluster, chi0_lattice):
    """The leading physical eigenvalues and the first one's vector in every block, ordered as with all data; NaN
    where the block has fewer."""
    found = {}
    for name, block in modes(blocks, g4, chi0_cluster, chi0_lattice).items():
        known, physical = full[name]
        size = len(block.eigenvalues)
        block = block.following(known, min(physical + LEADING, size))
        where = f"{tag}_{short_name(name)}"
        leading = block.eigenvalues[physical:]
        found[f"eigenvalues_{where}"] = np.append(leading, np.full(min(LEADING, size) - len(leading), np.nan))
        found[f"eigenvector_{where}"] = block.vectors[physical]
        found[f"lambda_{where}"] = block.eigenvalues[physical].real
    return found


def channel_labels(setting, blocks, window, tag):
    axes = two_particle_axes(setting, window)[:2]
    labels = {}
    for name, projector in blocks.items():
        labels[f"lambda_{tag}_{short_name(name)}"] = {
            "convention": f"leading physical eigenvalue of Gamma chi0 in {name}, its real part"}
        size = round(np.trace(projector)) * 2 * window
        labels[f"eigenvalues_{tag}_{short_name(name)}"] = {
            "axes": [Axis("eigenvalue", np.arange(min(LEADING, size)))],
            "convention": f"leading physical eigenvalues of Gamma chi0 in {name}, largest real part first"}
        labels[f"eigenvector_{tag}_{short_name(name)}"] = {
            "axes": axes, "convention": "eigenvector of the first of them, largest entry 1"}
    return labels


def two_particle_axes(setting, window, half=False):
    momenta = np.array(setting.cluster.momenta)
    both = setting.mesh.frequency(np.arange(-window, window))
    return [Axis("K", momenta, "1/a"), Axis("omega", both[window:] if half else both, "t"),
            Axis("K'", momenta, "1/a"), Axis("omega'", both, "t")]
