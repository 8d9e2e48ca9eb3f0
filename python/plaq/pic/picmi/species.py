"""Species of a deck with their distributions and layouts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.pic.inputs.particle_files import write_particles
from plaq.pic.inputs.units import ELECTRON_MASS, ELEMENTARY_CHARGE, SPEED_OF_LIGHT, Units
from plaq.pic.picmi.given import TURNED, Box, gamma_beta, name_of, only, refuse, turned, with_constants

PROTON = 1836.152673426
TYPES = {"electron": (-1.0, 1.0), "positron": (1.0, 1.0), "proton": (1.0, PROTON), "anti-proton": (-1.0, PROTON),
         "photon": None}
PUSHERS = {None: "boris", "Boris": "boris", "Vay": "vay", "Higuera-Cary": "higuera_cary"}
EV = ELECTRON_MASS * SPEED_OF_LIGHT**2 / ELEMENTARY_CHARGE  # m_e c²


def species_section(species: Any, layout: Any, box: Box, grid: dict[str, Any], density: float,
                    folder: Path) -> dict[str, dict[str, Any]]:
    """Return {NAME: section}. Particles of lists and bunches go to a file beside the run's folder."""
    if name_of(species) != "Species":
        raise InputError(f"picmi.{name_of(species)}: plaq has no such class")
    only(species, ("particle_type", "name", "method", "charge_state", "charge", "mass", "initial_distribution",
                   "density_scale"))
    name = species.name or species.particle_type
    if name is None:
        raise InputError("picmi.Species: a name or a particle_type is needed")
    if species.method not in PUSHERS:
        raise refuse(species, "method", "plaq has Boris, Vay, Higuera-Cary")
    charge, mass = _charge_and_mass(species)
    section = {"charge": charge, "mass": mass, "pusher": PUSHERS[species.method]}
    distribution = species.initial_distribution
    if isinstance(distribution, list):
        if len(distribution) != 1:
            raise refuse(species, "initial_distribution", "plaq's species have one distribution")
        distribution = distribution[0]
        layout = layout[0] if isinstance(layout, list) else layout
    if distribution is None:
        return {name: section}
    scale = 1.0 if species.density_scale is None else species.density_scale
    kind = name_of(distribution)
    if kind in ("UniformDistribution", "AnalyticDistribution"):
        return {name: section | _profile(distribution, layout, box, mass, scale)}
    if kind not in ("ParticleListDistribution", "GaussianBunchDistribution"):
        raise InputError(f"picmi.{kind}: plaq has no such class")
    x, u, w = _list(distribution) if kind == "ParticleListDistribution" else _bunch(distribution, layout)
    axes = [box.axes[i] for i in box.order]
    place = np.stack([x["xyz".index(axis)] - box.low[axis] for axis in axes], axis=1)
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.with_name(f"{folder.name}_{name}.h5")
    write_particles(file, name, place, np.stack(turned(u), axis=1) / SPEED_OF_LIGHT, scale * w, mass=mass,
                    units=Units("SI", density))
    return {name: section | {"file": str(file)}}


def _charge_and_mass(species: Any) -> tuple[float, float]:
    """Return charge and mass in e and m_e."""
    known = TYPES.get(species.particle_type) if species.particle_type else None
    charge = None if species.charge is None else species.charge / ELEMENTARY_CHARGE
    mass = None if species.mass is None else species.mass / ELECTRON_MASS
    if charge is None and species.charge_state is not None:
        charge = species.charge_state
    if known:
        charge, mass = (known[0] if charge is None else charge), (known[1] if mass is None else mass)
    if charge is None or mass is None:
        raise refuse(species, "particle_type", f"of {', '.join(n for n, own in TYPES.items() if own)} plaq knows "
                     "charge and mass; others need them")
    return charge, mass


def _profile(own: Any, layout: Any, box: Box, mass: float, scale: float) -> dict[str, Any]:
    """Return density, momenta and particles of a cell."""
    analytic = name_of(own) == "AnalyticDistribution"
    only(own, ("lower_bound", "upper_bound", "rms_velocity", "directed_velocity", "fill_in",
               *(("density_expression", "momentum_expressions", "momentum_spread_expressions", "user_defined_kw")
                 if analytic else ("density",))))
    if own.fill_in is False:
        raise refuse(own, "fill_in", "plaq's window fills in what enters")
    text = with_constants(own, str(own.density_expression)) if analytic else repr(own.density)
    density = box.within(own, text if scale == 1 else f"{scale!r}*({text})")
    drift: list[Any] = [gamma_beta(v) for v in own.directed_velocity]
    temperature: list[Any] = [mass * EV * gamma_beta(v) ** 2 for v in own.rms_velocity]
    for i in range(3) if analytic else ():
        if (mean := own.momentum_expressions[i]) is not None:
            drift[i] = f"({box.formula(with_constants(own, str(mean)))})/{SPEED_OF_LIGHT!r}"
        if (spread := own.momentum_spread_expressions[i]) is not None:
            temperature[i] = (f"{mass * EV!r}*(({box.formula(with_constants(own, str(spread)))})/"
                              f"{SPEED_OF_LIGHT!r})^2")
    return {"density": density, "drift": turned(drift), "temperature": turned(temperature), **_layout(layout, box)}


def _layout(layout: Any, box: Box) -> dict[str, Any]:
    kind = name_of(layout)
    if kind == "PseudoRandomLayout":
        only(layout, ("n_macroparticles_per_cell", "grid"))
        return {"per_cell": layout.n_macroparticles_per_cell, "placed": "random"}
    if kind != "GriddedLayout":
        raise InputError(f"picmi.{kind}: plaq has GriddedLayout and PseudoRandomLayout")
    only(layout, ("n_macroparticles_per_cell", "grid"))
    counts = box.ordered(layout.n_macroparticles_per_cell)
    if counts != even_grid(math.prod(counts), len(counts)):
        raise refuse(layout, "n_macroparticles_per_cell", f"plaq places {math.prod(counts)} particles evenly as "
                     f"{even_grid(math.prod(counts), len(counts))} along {', '.join(sorted(box.axes, key=TURNED.get))}")
    return {"per_cell": math.prod(counts), "placed": "even"}


def even_grid(count: int, dimension: int) -> list[int]:
    """Return the points in each direction of plaq's even placement: their product is ``count``, the most in x."""
    out = [1] * dimension
    for d in reversed(range(dimension)):
        n = count if d == 0 else int(count ** (1 / (d + 1)) + 1e-9)
        while count % n:
            n -= 1
        out[d] = n
        count //= n
    return out


def _list(own: Any) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return x, u in m/s and weights of the particles."""
    only(own, ("x", "y", "z", "ux", "uy", "uz", "weight"))
    x = [np.array(getattr(own, d)) for d in "xyz"]
    return x, [np.array(getattr(own, f"u{d}")) for d in "xyz"], np.broadcast_to(own.weight, x[0].shape).astype(float)


def _bunch(own: Any, layout: Any) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return x, u in m/s and weights of a Gaussian bunch; its random numbers are those of numpy's PCG64."""
    only(own, ("n_physical_particles", "rms_bunch_size", "rms_velocity", "centroid_position", "centroid_velocity",
               "velocity_divergence"))
    if name_of(layout) != "PseudoRandomLayout" or layout.n_macroparticles is None:
        raise InputError("picmi.GaussianBunchDistribution: it needs PseudoRandomLayout(n_macroparticles=...)")
    only(layout, ("n_macroparticles", "seed", "grid"))
    rng, count = np.random.Generator(np.random.PCG64(layout.seed or 1)), layout.n_macroparticles
    from_centre = [size * rng.standard_normal(count) for size in own.rms_bunch_size]
    u = [mean + spread * rng.standard_normal(count) + rate * dx for mean, spread, rate, dx in
         zip(own.centroid_velocity, own.rms_velocity, own.velocity_divergence, from_centre)]
    x = [centre + dx for centre, dx in zip(own.centroid_position, from_centre)]
    return x, u, np.full(count, own.n_physical_particles / count)
