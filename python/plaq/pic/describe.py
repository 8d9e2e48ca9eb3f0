"""What ``plaq pic check`` prints: the input in words and numbers, what it will need, and what is doubtful."""

from __future__ import annotations

import numpy as np

from plaq.data.words import size
from plaq.pic import loads
from plaq.pic.setup import Setup


def describe(setup: Setup) -> str:
    p, expected = setup.p, loads.expected(setup)
    needed, work = loads.bytes_of(setup, expected), expected.work()
    rows = [
        ("units", setup.units.in_words()),
        ("box", " x ".join(f"{length:.6g}" for length in setup.lengths) + " c/ω_p, "
         + " x ".join(map(str, setup.cells)) + " cells of " + " x ".join(f"{h:.4g}" for h in setup.spacing)),
        ("patches", f"{' x '.join(map(str, setup.patches))} = {len(needed)}"),
        ("sides", ", ".join(f"{d}: {setup.sides('', 0)[i]} and {setup.sides('', 1)[i]}, particles "
                            f"{setup.sides('particles_', 0)[i]} and {setup.sides('particles_', 1)[i]}"
                            for i, d in enumerate(setup.directions))),
        ("steps", f"{setup.steps} of {setup.dt:.6g} /ω_p"),
        *((f"species {name}", f"charge {one.charge:g} e, mass {one.mass:g} m_e, {expected.particles[name].sum():.6g} macro-particles at "
           f"the beginning") for name, one in p.species.items()),
        ("memory", f"{size(needed.sum())}, the largest patch {size(needed.max())}"),
        ("work", f"{setup.steps * work.sum():.4g} pushes; the patch with most has {work.max() / work.mean():.3g} times the mean, so "
         f"that up to {int(np.ceil(work.sum() / work.max()))} ranks can share the first step"),
    ]
    lines = [f"{name + ':':<22}{text}" for name, text in rows]
    lines += [f"{'doubtful:':<22}{sentence}" for sentence in loads.doubts(setup, expected)]
    return "\n".join(lines) + "\n"
