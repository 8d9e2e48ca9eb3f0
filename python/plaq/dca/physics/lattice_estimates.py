"""Estimates of the lattice's response at all momenta asked for, [q, nu], by jackknife through the whole chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.statistics import Resampled
from plaq.dca.lattice.transfers import assign, operation_to
from plaq.dca.physics import orbital_channels
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_response import CHANNELS, LatticeFunctions, TransferResponse
from plaq.dca.physics.orbital_response import OrbitalFunctions, OrbitalResponse
from plaq.dca.physics.two_particle import high_frequency_sigma
from plaq.trace.session import region

CONVENTIONS = {
    "chi_s": "int_0^beta dtau e^(inu tau) <S^z_q(tau) S^z_-q> per site on the lattice",
    "chi_c": "int_0^beta dtau e^(inu tau) <n_q(tau) n_-q>_connected per site on the lattice",
    "chi_pair_s": "int_0^beta dtau e^(inu tau) <D_q(tau) D+_q> per site on the lattice, D = sum_k c_down(q-k) c_up(k)",
    "chi_pair_d": "the same with cos k_x - cos k_y, mean of k and q - k, in D",
}


def response_of(evaluation: Evaluation, kind: str, transfer: int, m: int, window: int,
                momenta: Sequence[np.ndarray]) -> TransferResponse:
    """Return the response from one two-particle function, at those momenta whose vertex it gives."""
    mesh = evaluation.mesh
    return TransferResponse(evaluation.model, mesh.beta, mesh.wmax, kind, transfer, m, window, momenta)


def response_at(evaluation: Evaluation, kind: str, transfer: int, m: int, window: int,
                places: Sequence[tuple[int, np.ndarray]]) -> tuple[Any, Callable]:
    """Return the response at places of `assign`, and what makes its functions from `Evaluation.sample`."""
    images = [image for _, image in places]
    if not evaluation.model.general:
        return response_of(evaluation, kind, transfer, m, window, images), functions_of
    model, mesh = evaluation.model, evaluation.mesh
    operations = [operation_to(model.group, model.momenta[i], image) for i, image in places]
    return OrbitalResponse(model, mesh.beta, mesh.wmax, kind, transfer, m, window, images, operations), (
        OrbitalFunctions.of)


def functions_of(evaluation: Evaluation, m: np.ndarray) -> LatticeFunctions:
    """Return G of the cluster and z of the lattice from `Evaluation.sample`."""
    g, sigma = evaluation.dyson(m)
    return LatticeFunctions.of(evaluation.on_lattice(sigma), g, sigma, high_frequency_sigma(evaluation, g))


@region("response of the lattice")
def lattice_estimates(evaluation: Evaluation, window: int, channels: Sequence[tuple[str, int, int]],
                      resample: Callable, note: str = "") -> dict[str, Estimate]:
    """Return chi and leading eigenvalues [q, nu] of every channel that was measured.

    channels : (kind, transfer index, bosonic index) of all functions, pairing among them. resample((kind, Q, m),
    prepare, function) : the jackknife of function(evaluation, m, g4, prepared), where ``prepared`` is the result of
    prepare(evaluation, m, g4) with all data. note : the reason for infinite errors, or nothing.
    """
    momenta, estimates = evaluation.model.momenta, {}
    for kind in CHANNELS:
        transfers = list(dict.fromkeys(q for name, q, _ in channels if name == kind))
        bosonic = list(dict.fromkeys(m for name, _, m in channels if name == kind))
        parts: dict[str, list[tuple[list[int], int, Resampled]]] = {}
        for Q, places in assign(evaluation.model.group, momenta, transfers).items():
            for position, m in enumerate(bosonic if places else ()):
                response, functions = response_at(evaluation, kind, Q, m, window, places)
                resampled = resample(
                    (kind, Q, m),
                    lambda sampled, m, g4, response=response: response.references(functions(sampled, m), g4),
                    lambda sampled, m, g4, first, response=response: response(functions(sampled, m), g4, first))
                for name, value in resampled.items():
                    parts.setdefault(name, []).append(([i for i, _ in places], position, value))
        axes = [Axis("q", momenta, "1/a"), Axis("nu", 2 * np.pi / evaluation.mesh.beta * np.array(bosonic), "t")]
        joint = {name: joined(pieces, len(momenta), len(bosonic)) for name, pieces in parts.items()}
        estimates |= labelled(joint, axes, evaluation, window, note)
    return estimates


def joined(pieces: Sequence[tuple[list[int], int, Resampled]], momenta: int, bosonic: int) -> Resampled:
    """Return one quantity at all momenta and bosonic frequencies from [q, ...] of some momenta and one frequency."""
    def whole(part: Callable[[Resampled], np.ndarray], lead: int) -> np.ndarray:
        like = part(pieces[0][2])
        out = np.full((*like.shape[:lead], momenta, bosonic, *like.shape[lead + 1:]), np.nan, like.dtype)
        for at, m, piece in pieces:
            out[(slice(None),) * lead + (at, m)] = part(piece)
        return out

    known = lambda values: [value for value in values if value is not None]
    return Resampled(whole(lambda r: r.mean, 0), whole(lambda r: r.error, 0), whole(lambda r: r.bias, 0),
                     None if pieces[0][2].values is None else whole(lambda r: r.values, 1),
                     max(known(r.disagreement for *_, r in pieces), default=None),
                     max(known(r.kurtosis for *_, r in pieces), default=None))


def labelled(joint: Mapping[str, Resampled], axes: Sequence[Axis], evaluation: Evaluation,
             window: int, note: str = "") -> dict[str, Estimate]:
    """Return the estimates with their axes and conventions, and a note where the window moves chi by over an error."""
    vector_axes, names, estimates = orbital_channels.axes(evaluation, window), evaluation.model.lattice.orbitals, {}
    orbitals = [Axis("orbital", np.array(names)), Axis("orbital'", np.array(names))]
    for name, value in joint.items():
        of = name.removesuffix("_window")
        if name.startswith("leading_vector_"):
            labels = {"axes": [*axes, *vector_axes], "convention": "eigenvector of the leading eigenvalue, largest 1"}
        elif name.startswith("leading_"):
            labels = {"axes": axes, "convention":
                      "real part of the leading physical eigenvalue of Gamma chi0 at q, that of largest Re - |Im|"}
        elif name.endswith("_orbital"):
            whole = name.removesuffix("_orbital")
            labels = {"axes": [*axes, *orbitals], "unit": "1/t",
                      "convention": f"parts of {whole} by orbital, with e^(-iq.R) of cells: they add up to it"}
        elif name == of:
            labels = {"axes": axes, "unit": "1/t", "convention": CONVENTIONS[of]}
        else:
            labels = {"axes": axes, "unit": "1/t",
                      "convention": f"part of {of} from extrapolation of the frequency window, as 1/N^2"}
        estimates[name] = value.estimate(name, note=note, **labels)
        estimates[name].note = note or window_note(joint, name)
    return estimates


def window_note(joint: Mapping[str, Resampled], name: str) -> str:
    """Return that extrapolation of the window moves chi by more than its error; an empty text where it does not."""
    if f"{name}_window" not in joint:
        return ""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nanmax(np.abs(joint[f"{name}_window"].mean) / joint[name].error, initial=0.0)
    if not 1 < size < np.inf:  # inf: exact
        return ""
    return (f"extrapolation of the frequency window moves it by up to {size:.1f} errors: see {name}_window, or raise "
            "two_particle.frequencies")


def with_both_signs(g4: np.ndarray) -> np.ndarray:
    """Return the pairing function [K, n, K', n'] from its rows n >= 0: it stays when both frequencies change sign."""
    return np.concatenate([g4[:, ::-1, :, ::-1], g4], axis=1)
