"""Text of ``plaq pic check``: the input in words and numbers, memory and work, and warnings."""

from __future__ import annotations

import numpy as np

from plaq.data.formatting import format_size
from plaq.errors import InputError
from plaq.pic.inputs import loads
from plaq.pic.inputs.plan import plan_of
from plaq.pic.inputs.setup import Setup
from plaq.pic.planning import speeds
from plaq.pic.planning.warnings import input_warnings


def describe(setup: Setup) -> str:
    """Return the text of ``plaq pic check``. InputError as of `conductors`."""
    p, expected = setup.p, loads.expected_loads(setup)
    needed = loads.bytes_of(setup, expected)
    rows = [
        ("units", setup.units.describe()),
        ("box", "a cylinder, z and r: " * setup.cylinder
         + " x ".join(f"{length:.6g}" for length in setup.lengths) + " c/ω_p, "
         + " x ".join(map(str, setup.cells)) + " cells of " + " x ".join(f"{h:.4g}" for h in setup.spacing)),
        ("patches", " x ".join(map(str, setup.patches)) + (f" = {len(needed)}" if setup.dimension > 1 else "")),
        ("sides", ", ".join(f"{d}: {setup.sides('', 0)[i]} and {setup.sides('', 1)[i]}, particles "
                            f"{setup.sides('particles_', 0)[i]} and {setup.sides('particles_', 1)[i]}"
                            for i, d in enumerate(setup.directions))),
        ("steps", f"{setup.steps} of {setup.dt:.6g} /ω_p"),
        *long_paths(setup),
        *window_and_light(setup),
        *((f"species {name}", f"charge {species.charge:g} e, mass {species.mass:g} m_e, "
           f"{expected.particles[name].sum():.6g} macro-particles at the beginning")
          for name, species in p.species.items()),
        *((f"emission {name}", emitted(setup, name)) for name in p.emission),
        *conductors(setup),
        *external(setup),
        *((f"ionisation {name}", f"of {own.species} to {own.ions} and {own.electrons} by the field")
          for name, own in p.ionisation.items()),
        *((f"merging {name}", f"of {own.species} in cells with more than {own.above}, every {own.every} steps")
          for name, own in p.merging.items()),
        *((f"splitting {name}", f"of {own.species} in cells with fewer than {own.below}, every {own.every} steps")
          for name, own in p.splitting.items()),
        ("memory", f"{format_size(needed.sum())}, the largest patch {format_size(needed.max())}"
         + (f"; up to {format_size(more)} more for particles from plates, if none leaves"
            if (more := loads.emitted_bytes(setup)) else "")),
        ("work", describe_work(setup, expected)),
    ]
    lines = [f"{name + ':':<22}{text}" for name, text in rows]
    lines += [f"{'warning:':<22}{sentence}" for sentence in input_warnings(setup, expected)]
    return "\n".join(lines) + "\n"


def describe_work(setup: Setup, expected: loads.Loads) -> str:
    """Return the work of a run, and the number of ranks that can share the first step."""
    work = expected.work()
    total = f"{setup.steps * work.sum():.4g} pushes"
    if not expected.all_particles.any():
        return f"that of {total} for the fields" + (", and the particles of plates" if setup.p.emission else "")
    return (f"{total}; the patch with most has {work.max() / work.mean():.3g} times the mean, so that up to "
            f"{int(np.ceil(work.sum() / work.max()))} ranks can share the first step")


def long_paths(setup: Setup) -> list[tuple[str, str]]:
    """Return a row for an electrostatic run whose fastest particles cross more than a cell in a step."""
    if setup.p.fields.solver != "electrostatic":
        return []
    most, name = max(((speeds.cells_per_step(setup, name), name) for name in setup.p.species), default=(0.0, ""))
    if most <= 1:
        return []
    return [("paths", f"the fastest {name} at the beginning, by drift and {speeds.TAIL} thermal speeds, cross "
             f"{most:.3g} cells in a step, which is slower; with a time.step of {setup.p.time.step / most:.3g} "
             "or less they cross one")]


def window_and_light(setup: Setup) -> list[tuple[str, str]]:
    """Return the rows of lasers and the moving window."""
    rows = []
    for name, laser in setup.p.laser.items():
        across, omega = setup.spacing[setup.directions.index(laser.normal)], setup.laser_omega(name)
        peak = setup.pulses[name].peak if name in setup.pulses else omega * laser.a0
        rows.append((f"laser {name}", f"{2 * np.pi / omega / across:.3g} cells to a wavelength, "
                      f"{peak:.4g} m_e c ω_p/e at the peak"))
    if setup.p.window.speed:
        rows.append(("window", f"moves with {setup.p.window.speed:g} c from t = {setup.p.window.start:g} on"))
    return rows


def external(setup: Setup) -> list[tuple[str, str]]:
    """Return the row of fields from outside."""
    own = setup.p.external
    parts = [f"{kind.upper()}_{d} = {part if isinstance(part, str) else f'{part:g}'}"
             for kind in "eb" for d, part in zip(setup.axes, getattr(own, kind)) if part != 0.0]
    parts += [f"the file {own.file}"] * (own.file is not None)
    return [("from outside", ", ".join(parts))] if parts else []


def conductors(setup: Setup) -> list[tuple[str, str]]:
    """Return the rows of conductors in the box.

    An electrostatic run keeps a matrix of all nodes on their surface on each rank; InputError where they are too many.
    """
    if not setup.p.conductor and not setup.p.dielectric:
        return []
    every = setup.sampled_node
    rows = [(f"conductor {name}", f"{'about ' * (every > 1)}{every * len(setup.conductor_nodes(name, every))} nodes")
             for name in setup.p.conductor]
    if setup.p.fields.solver == "electrostatic" and every == 1 and setup.dimension > 1:
        plan = plan_of(setup, whole=False)
        if plan.surface_nodes > plan.max_surface_nodes:
            raise InputError(f"conductors and dielectrics in the box have {plan.surface_nodes} nodes on their surface; "
                             f"at most {plan.max_surface_nodes} are allowed where fields.solver is electrostatic")
        matrix = format_size(8 * plan.surface_nodes**2)
        rows.append(("surface", f"{plan.surface_nodes} nodes of conductors and dielectrics: {matrix} on each rank, "
                     "and as many solutions of Poisson's equation before the first step"))
    return rows


def emitted(setup: Setup, name: str) -> str:
    """Return the description of [emission.NAME]."""
    plate = setup.p.emission[name]
    if plate.space_charge_limited:
        return f"of {plate.species}, limited by space charge: not in the memory below"
    if plate.law is not None:
        return f"of {plate.species}, by the law {plate.law}: not in the memory below"
    return f"of {plate.species}, {loads.emitted_particles(setup, name):.4g} macro-particles until the end"
