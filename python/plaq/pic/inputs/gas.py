"""Scattering of particles by gases: [gas.NAME] and [scattering.NAME] as the core takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq import _core
from plaq.pic.inputs import loads, lxcat
from plaq.pic.inputs.setup import Profile, Setup
from plaq.pic.inputs.units import ELECTRON_REST_ENERGY

PRODUCTS = ("electrons", "ions", "negative_ions")


def processes_of(section: Any) -> list[lxcat.Process]:
    """Return the processes of [scattering.NAME], whose input was resolved: ELASTIC in place of EFFECTIVE."""
    return lxcat.with_elastic(lxcat.parse(section.cross_sections, "cross_sections"), "cross_sections")


def labels(processes: list[lxcat.Process]) -> list[str]:
    """Return a name of each process for the record, such as excitation_19.82; a second one of a name ends with _2."""
    out: list[str] = []
    for process in processes:
        name = lxcat.TYPES[process.type] if process.type != "ISOTROPIC" else "isotropic"
        name += f"_{process.loss:g}" if process.loss else ""
        same = sum(other == name or other.startswith(f"{name}_no") for other in out)
        out.append(f"{name}_no{same + 1}" if same else name)
    return out


def total_cross_section(process: lxcat.Process, law: str) -> np.ndarray:
    """Return the cross section of a table's process with this law of scattering, m² [energy].

    ELASTIC is that of momentum transfer, which a law changes by 1 - <cos θ>: 2/ln(1 + ε) - 2/ε, ε in eV, of Vahedi and
    Surendra (1995).
    """
    if law == "isotropic" or process.type != "ELASTIC":
        return process.cross_section
    e = np.maximum(process.energy, 1e-3)
    return process.cross_section / np.where(process.energy > 1e-3, 2 / np.log1p(e) - 2 / e, 1 - e / 6)


def scattering_of(setup: Setup, name: str, whole: bool) -> _core.pic.GasScattering:
    """Return [scattering.NAME]; not ``whole``: profiles of the gas are checked only."""
    section, names = setup.p.scattering[name], list(setup.p.species)
    processes, energy = processes_of(section), 1 / ELECTRON_REST_ENERGY
    area = 1 / setup.units.in_si("cross section")
    table = [_core.pic.GasProcess(lxcat.TYPES[process.type], label, process.loss * energy, process.energy * energy,
                                  total_cross_section(process, section.law) * area)
             for process, label in zip(processes, labels(processes))]
    products = [-1 if getattr(section, key) is None else names.index(getattr(section, key)) for key in PRODUCTS]
    density, temperature, *drift = (values(setup, key, profile, whole)
                                    for key, profile in gas_profiles(setup, section.gas).items())
    return _core.pic.GasScattering(
        name, names.index(section.species), *products, setup.p.gas[section.gas].mass, density, temperature, drift,
        processes[0].type in lxcat.IONS, section.sharing,
        (section.opal_energy or 0.0) * setup.units.of("temperature"), section.law, table)


def gas_profiles(setup: Setup, name: str) -> dict[str, Profile]:
    """Return density, temperature and the three components of the drift of [gas.NAME], by their keys."""
    gas, key = setup.p.gas[name], f"gas.{name}"
    return {f"{key}.density": setup.profile(f"{key}.density", gas.density, "density"),
            f"{key}.temperature": setup.profile(f"{key}.temperature", gas.temperature, "temperature"),
            **{f"{key}.drift, {d}": setup.profile(f"{key}.drift", part, "u") for d, part in zip(setup.axes, gas.drift)}}


def values(setup: Setup, key: str, profile: Profile, whole: bool) -> np.ndarray:
    """Return a profile of a gas in every cell, x fastest, or one number; not ``whole``: one number."""
    if profile.constant is not None:
        out = np.array([profile.constant])
        if "drift" not in key:
            loads.check_positive(key, profile.text, out, np.zeros((1, setup.dimension)), setup)
        return out
    sampled = ([setup.centres([0] * setup.dimension, setup.cells)] if whole else setup.sample_points())
    for points in sampled:
        found = profile.at(points)
        if "drift" not in key:
            loads.check_positive(key, profile.text, found, points, setup)
    return found.reshape(setup.cells).ravel(order="F") if whole else np.zeros(1)
