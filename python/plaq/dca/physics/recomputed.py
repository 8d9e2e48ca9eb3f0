"""Response of the lattice from the functions of a finished temperature, at any momentum, with errors.

G, Sigma, density and two-particle functions have leave-one-out values of the same groups, so that the response of each
group is computed as in the run (plaq.dca.physics.lattice_response), with its own mu and vertex.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.propagation import derive
from plaq.dca.lattice.bubble import nearest
from plaq.dca.lattice.transfers import assign
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_estimates import CONVENTIONS, response_of, with_both_signs
from plaq.dca.physics.lattice_response import CHANNELS, NAMES, LatticeFunctions, has_d_wave
from plaq.dca.physics.two_particle import high_frequency_sigma
from plaq.errors import InputError

FUNCTION = re.compile(r"G4_(pp|magnetic|charge|transverse)_q(\d+)_m(-?\d+)")
FORMS = ("s", "d")


def susceptibility(observables: Mapping[str, Estimate], evaluation: Evaluation, q: Sequence, channel: str, m: int,
                   form: str) -> Estimate:
    """Return chi(q, inu_m) of the lattice in a channel, at one momentum [2] or at several [q, 2], in pi/a.

    form : of pairs, "s" or "d". InputError where the run has no function with samples for it.
    """
    if channel not in CHANNELS:
        raise InputError(f"channel = {channel!r}: not one of {', '.join(CHANNELS)}")
    if form not in FORMS or (form == "d" and not has_d_wave(evaluation.model)):
        raise InputError(f'form = {form!r}: "s", or "d" on a square lattice with equivalent x and y')
    momenta = np.pi * np.atleast_2d(np.asarray(q, dtype=float))
    if momenta.ndim != 2 or momenta.shape[1] != 2:
        raise InputError(f"q = {q!r}: one momentum of two components in pi/a, or a list of them")
    model, mesh = evaluation.model, evaluation.mesh
    evaluation.model.coarse_graining.prepare(np.pi / mesh.beta)
    known = functions_of(observables, channel, m)
    places = assign(model.group, momenta, list(known))
    if places[-1]:
        needed = model.cluster.momenta[nearest(model.cluster, places[-1][0][1])[0]] / np.pi
        raise InputError(f'channel = "{channel}", m = {m}: the run has no function at the transfer '
                         f"[{needed[0]:g}, {needed[1]:g}], which q needs: two_particle.channels, transfers, bosonic")
    name = {"s": NAMES[channel], "d": "chi_pair_d"}[form if channel == "pp" else "s"]
    parts = [(Q, [i for i, _ in at], evaluated(observables, evaluation, known[Q], (channel, Q, m),
                                               [image for _, image in at], name))
             for Q, at in places.items() if Q >= 0 and at]
    order = np.argsort(np.concatenate([at for _, at, _ in parts]))
    operands = [part for *_, part in parts]
    values = derive(lambda *chi: np.concatenate([np.atleast_1d(x) for x in chi])[order], *operands, name=name,
                    axes=(Axis("q", momenta, "1/a"),), unit="1/t", convention=CONVENTIONS[name])
    return values if np.ndim(q) == 2 else values.pick(q=0)


def functions_of(observables: Mapping[str, Estimate], channel: str, m: int) -> dict[int, Estimate]:
    """Return the two-particle functions of a channel and bosonic index with their samples, by transfer index."""
    found = {}
    for name, estimate in observables.items():
        match = FUNCTION.fullmatch(name)
        if match and {"transverse": "magnetic"}.get(match[1], match[1]) == channel and int(match[3]) == m:
            found[int(match[2])] = estimate
    if channel == "pp" and m == 0 and "G4_pp" in observables:
        found[0] = observables["G4_pp"]
    if any(estimate.jackknife is None and np.any(estimate.error) for estimate in found.values()):
        raise InputError("the run has kept no samples of its two-particle functions: two_particle.samples = true "
                         "keeps them")
    return found


def evaluated(observables: Mapping[str, Estimate], evaluation: Evaluation, g4: Estimate, which: tuple[str, int, int],
              momenta: Sequence[np.ndarray], name: str) -> Estimate:
    """Return chi [q] at the momenta whose vertex one two-particle function gives."""
    half = g4.name == "G4_pp"
    window = g4.axes[1].size if half else g4.axes[1].size // 2
    response = response_of(evaluation, *which, window, momenta)

    def chi(g, sigma, density, mu, values):
        sigma = sigma - evaluation.hartree(density)  # as Dyson's equation gave it
        functions = LatticeFunctions.of(replace(evaluation, mu=float(mu)).on_lattice(sigma), g, sigma,
                                        high_frequency_sigma(evaluation, g))
        values = with_both_signs(values) if half else values
        return response(functions, values, [None] * len(momenta))[name]

    sources = [observables[key] for key in ("G", "Sigma", "density", "mu")]
    return derive(chi, *sources, g4, name=name, axes=(Axis("q", np.array(momenta), "1/a"),), unit="1/t")
