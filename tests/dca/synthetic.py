"""Results with plausible numbers and the shapes of a real run, made without a solver."""

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.dca.parameters import Parameters
from plaq.dca.physics.point import Point
from plaq.dca.physics.transition import transition
from plaq.dca.results.results import Results

K = np.pi * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
SITES = Axis("R", np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), "a")
BINS = 64
NEEL_T = 0.22  # where the made-up magnetic eigenvalue is 1


def parameters(**sections):
    defaults = {
        "model": {"U": 6.0},
        "dca": {"temperatures": [1.0, 0.5, 0.25, 0.1, 0.09, 0.08, 0.07], "density": 0.95},
        "two_particle": {"below": 0.1},
    }
    return Parameters(
        "input.toml",
        **{name: {**defaults.get(name, {}), **sections.get(name, {})} for name in {**defaults, **sections}},
    )


def estimate(rng, name, mean, error, axes=(), **rest):
    """Jackknife values scatter so that they give the error."""
    mean = np.asarray(mean)
    noise = rng.normal(size=(BINS, *mean.shape))
    if np.iscomplexobj(mean):
        noise = noise + 1j * rng.normal(size=noise.shape)
        error = np.full(mean.shape, error * (1 + 1j))
    jackknife = mean + (noise - noise.mean(axis=0)) * np.real(error) / np.sqrt(BINS - 1)
    return Estimate(name, mean, np.broadcast_to(error, mean.shape).copy(), jackknife, axes, **rest)


def frequencies(T):
    """Positive Matsubara frequencies, sparse as a solver's are."""
    return np.pi * T * (2 * np.unique(np.rint(np.geomspace(1, 400 / T**0.5, 16)).astype(int)) - 1)


def point(p, index, scale=1.0, frequencies=frequencies):
    T = p.dca.temperatures[index]
    beta, U, n = 1 / T, p.model.U, 0.95
    rng = np.random.default_rng(index)
    w = frequencies(T)
    momenta, frequencies = Axis("K", K, "1/a"), Axis("omega", w, "t")
    order = 1 + beta * U * 4 * 0.36
    k = np.arange(int(2 * order + 20))
    weight = np.exp(-((k - order) ** 2) / (2 * order))
    hartree = np.full(4, U * n / 2)
    eps = -2 * (np.cos(K[:, 0]) + np.cos(K[:, 1]))
    strength = U**2 / 4 * np.array([0.8, 1.4, 1.4, 0.8])
    sigma = hartree[:, None] + strength[:, None] / (1j * w + 0.4 - 0.2 * eps[:, None])  # one pole
    g = 1 / (1j * w + 2.4 - eps[:, None] - sigma)
    tau = np.linspace(0, beta, 33)
    error = scale * 1e-3
    observables = [
        estimate(rng, "density", n, 1e-5),
        estimate(rng, "double_occupancy", 0.09 - 0.03 * T, error / 10, tau_int=3.1 * beta**0.4),
        estimate(rng, "energy", -0.75 + 0.4 * T**2, error, unit="t"),
        estimate(rng, "sign", 1 - 0.12 * min(1, 0.08 / T) ** 2, error, tau_int=1.2 * beta**0.4),
        estimate(rng, "expansion_order", order, 0.05, tau_int=2.0 * beta**0.4),
        estimate(rng, "order_identity", 0.03 * rng.normal(), 0.05),
        estimate(rng, "order_histogram", weight / weight.sum(), 1e-4, (Axis("k", k),)),
        estimate(rng, "G", g, error, (momenta, frequencies), unit="1/t", convention="G = -<T c c+>"),
        estimate(
            rng, "Sigma", sigma, error, (momenta, frequencies), unit="t", convention="with the Hartree term U n/2"
        ),
        estimate(rng, "Sigma_infinity", hartree, 0.0, (momenta,), unit="t"),
        estimate(
            rng,
            "G_tau",
            -0.5 * np.cosh(np.outer(eps / 8, tau - beta / 2)),
            error,
            (momenta, Axis("tau", tau, "1/t")),
        ),
        estimate(
            rng,
            "spin_correlation",
            [0.6, -0.25, -0.25, 0.1],
            error,
            (SITES,),
        ),
        estimate(rng, "charge_correlation", [0.25, -0.1, -0.1, -0.02], error, (SITES,)),
        estimate(rng, "spin_susceptibility", [0.1, 0.2, 0.2, 0.3 + 0.3 * beta**0.5], error, (momenta,), unit="1/t"),
        estimate(rng, "charge_susceptibility", [0.08, 0.09, 0.09, 0.1], error, (momenta,), unit="1/t"),
    ]
    if p.measures_two_particle(T):
        noise = scale * 0.0015 * rng.normal()
        value = 0.327 / (T + 0.05) ** 0.54 + noise
        window = 1 + np.arange(16)
        phi = np.array([0, 1, -1, 0])[:, None] * 1 / (1 + (w[:8] / 2) ** 2)
        observables += [
            estimate(rng, "lambda_d", value, scale * 0.0015),
            estimate(
                rng, "lambda_window", value * (1 - 0.6 / (1 + window) ** 2), error, (Axis("frequencies", window),)
            ),
            estimate(rng, "eigenvector_d", phi, error, (momenta, Axis("omega", w[:8], "t"))),
        ]
    for channel in [channel for channel in p.two_particle.channels if channel != "pp"]:
        value = (NEEL_T / T) ** 0.5 if channel == "magnetic" else 0.1 + 0.01 * beta**0.5
        observables += [estimate(rng, f"lambda_{channel}_q3_m0_s", value, scale * 0.004),
                        estimate(rng, f"lambda_{channel}_q3_m0_d", 0.05, scale * 0.004)]
    history = [
        {
            "T": T,
            "iteration": i + 1,
            "phase": "final" if i == 4 else "approach",
            "mu": 2.0 + 0.1 / (i + 1),
            "density": n,
            "sign": 0.9,
            "order": order,
            "change": None if i == 0 else 0.02 * 3.0 ** (1 - i) + 0.001,
            "change_error": None if i == 0 else 0.002,
            "measurements": 20_000,
            "drift": 2e-11,
            "acceptance": 0.41,
            "seconds": {"walk": 2.0 + i, "measure": 1.0, "coarse_grain": 0.05},
        }
        for i in range(5)
    ]
    seconds = {"walk": 6 * beta, "measure": 3 * beta, "two_particle": 2 * beta * (T <= 0.1), "coarse_grain": 0.6}
    return Point(index, T, beta, 2.0, {e.name: e for e in observables}, history, seconds,
                 representatives=np.array([0, 1, 1, 3]))


def results(p=None, scale=1.0, frequencies=frequencies):
    p = p or parameters()
    points = [point(p, index, scale, frequencies) for index in range(len(p.dca.temperatures))]
    found = Results(points)
    T, value, error = found.series("lambda_d")
    if len(T) >= 2:
        found.transition = transition(T, value, error)
    found.seconds = {"walk": 300.0, "measure": 120.0, "rest": 3.0}
    return found
