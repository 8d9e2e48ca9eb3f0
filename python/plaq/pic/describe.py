"""What ``plaq pic check`` prints: the input in words and numbers, what it will need, and what is doubtful."""

from __future__ import annotations

import numpy as np

from plaq.data.formatting import format_size
from plaq.errors import InputError
from plaq.pic import loads, speeds
from plaq.pic.doubts import doubts
from plaq.pic.plan import plan_of
from plaq.pic.setup import Setup


def describe(setup: Setup) -> str:
    p, expected = setup.p, loads.expected(setup)
    needed = loads.bytes_of(setup, expected)
    rows = [
        ("units", setup.units.in_words()),
        ("box", " x ".join(f"{length:.6g}" for length in setup.lengths) + " c/ω_p, "
         + " x ".join(map(str, setup.cells)) + " cells of " + " x ".join(f"{h:.4g}" for h in setup.spacing)),
        ("patches", " x ".join(map(str, setup.patches)) + (f" = {len(needed)}" if setup.dimension > 1 else "")),
        ("sides", ", ".join(f"{d}: {setup.sides('', 0)[i]} and {setup.sides('', 1)[i]}, particles "
                            f"{setup.sides('particles_', 0)[i]} and {setup.sides('particles_', 1)[i]}"
                            for i, d in enumerate(setup.directions))),
        ("steps", f"{setup.steps} of {setup.dt:.6g} /ω_p"),
        *far_ways(setup),
        *window_and_light(setup),
        *((f"species {name}", f"charge {one.charge:g} e, mass {one.mass:g} m_e, "
           f"{expected.particles[name].sum():.6g} macro-particles at the beginning")
          for name, one in p.species.items()),
        *((f"emission {name}", emitted(setup, name)) for name in p.emission),
        *conductors(setup),
        ("memory", f"{format_size(needed.sum())}, the largest patch {format_size(needed.max())}"
         + (f"; up to {format_size(more)} more for what plates give off, if nothing leaves"
            if (more := loads.emitted_bytes(setup)) else "")),
        ("work", in_words(setup, expected)),
    ]
    lines = [f"{name + ':':<22}{text}" for name, text in rows]
    lines += [f"{'doubtful:':<22}{sentence}" for sentence in doubts(setup, expected)]
    return "\n".join(lines) + "\n"


def in_words(setup: Setup, expected: loads.Loads) -> str:
    """The work of a run, and how it can be shared at first."""
    work = expected.work()
    total = f"{setup.steps * work.sum():.4g} pushes"
    if not expected.all_particles.any():
        return f"that of {total} for the fields" + (", and what plates give off" if setup.p.emission else "")
    return (f"{total}; the patch with most has {work.max() / work.mean():.3g} times the mean, so that up to "
            f"{int(np.ceil(work.sum() / work.max()))} ranks can share the first step")


def far_ways(setup: Setup) -> list[tuple[str, str]]:
    """Doubt an electrostatic run whose fastest particles cross more than a cell in a step."""
    if setup.p.fields.solver != "electrostatic":
        return []
    found = max(((speeds.cells_in_a_step(setup, name), name) for name in setup.p.species), default=(0.0, ""))
    most, name = found
    if most <= 1:
        return []
    return [("ways", f"the fastest of {name} at the beginning, by drift and {speeds.TAIL} thermal speeds, go through "
             f"{most:.3g} cells in a step, which takes longer; with a time.step of {setup.p.time.step / most:.3g} "
             "or less it is one")]


def window_and_light(setup: Setup) -> list[tuple[str, str]]:
    found = []
    for name, one in setup.p.laser.items():
        across = setup.spacing["xyz".index(one.normal)]
        found.append((f"laser {name}", f"{one.wavelength * setup.length_unit / across:.3g} cells to a wavelength, "
                      f"{2 * np.pi * one.a0 / (one.wavelength * setup.length_unit):.4g} m_e c ω_p/e at the peak"))
    if setup.p.window.speed:
        found.append(("window", f"moves with {setup.p.window.speed:g} c from t = {setup.p.window.start:g} on"))
    return found


def conductors(setup: Setup) -> list[tuple[str, str]]:
    """Those in the box. An electrostatic run keeps a matrix of all nodes on their surface on each rank."""
    if not setup.p.conductor:
        return []
    every = setup.every_node
    found = [(f"conductor {name}", f"{'about ' * (every > 1)}{every * len(setup.conductor_nodes(name, every))} nodes")
             for name in setup.p.conductor]
    if setup.p.fields.solver == "electrostatic" and every == 1:
        plan = plan_of(setup, whole=False)
        if plan.surface > plan.most_on_surface:
            raise InputError(f"conductors in the box have {plan.surface} nodes on their surface; at most "
                             f"{plan.most_on_surface} are allowed where fields.solver is electrostatic")
        found.append(("surface", f"{plan.surface} nodes of conductors: {format_size(8 * plan.surface**2)} on each rank,"
                      " and as many solutions of Poisson's equation before the first step"))
    return found


def emitted(setup: Setup, name: str) -> str:
    plate = setup.p.emission[name]
    if plate.space_charge_limited:
        return f"of {plate.species}, as many as space charge lets: not in the memory below"
    return f"of {plate.species}, {loads.emitted_particles(setup, name):.4g} macro-particles until the end"
