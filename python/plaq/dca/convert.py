"""Inputs of DCA++ (JSON) as inputs of plaq: the same physics, and every key without counterpart by name.

DCA++ writes the interaction with n - 1/2, so that mu = 0 is half filling; plaq writes it with n. The difference is a
potential of each orbital, which goes into mu and into energies of orbitals. It counts a bond of a small cluster once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plaq.dca.inputs.table import SCHEMA
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.errors import InputError
from plaq.files.guard import reading
from plaq.inputs.schema import to_toml

LARGEST = 1 << 20
CHANNELS = {"PARTICLE_PARTICLE_UP_DOWN": "pp", "PARTICLE_HOLE_MAGNETIC": "magnetic", "PARTICLE_HOLE_CHARGE": "charge",
            "PARTICLE_HOLE_TRANSVERSE": "transverse", "PARTICLE_HOLE_LONGITUDINAL_UP_UP": "upup",
            "PARTICLE_HOLE_LONGITUDINAL_UP_DOWN": "updown"}


class Source:
    """Content of the file; `take` marks keys as converted, `left` names the others."""

    def __init__(self, path: Path):
        self.path = path
        with reading(path, "an input of DCA++"):
            if path.stat().st_size > LARGEST:
                raise InputError(f"{path}: longer than {LARGEST} bytes, so it is not an input")
            self.content = self._parsed(path.read_text(encoding="utf-8-sig"))
        if not isinstance(self.content, dict):
            raise InputError(f"{path}: not an input of DCA++: it has no sections")
        self.taken: set[tuple[str, ...]] = set()

    def _parsed(self, text: str) -> Any:
        """Return the content of JSON, also with numbers such as "1.", words such as random, and a comma missing.

        DCA++'s own examples have them.
        """
        parts = re.split(r'("(?:[^"\\]|\\.)*")', text)  # every second one is a text
        parts[::2] = [re.sub(r"([0-9])\.(?![0-9])", r"\1.0", part) for part in parts[::2]]
        parts[::2] = [re.sub(r"\b(?!true\b|false\b|null\b)[A-Za-z_]\w+", r'"\g<0>"', part) for part in parts[::2]]
        text = "".join(parts)
        for _ in range(100):
            try:
                return json.loads(text)
            except json.JSONDecodeError as error:
                if error.msg != "Expecting ',' delimiter" or text[error.pos] != '"':
                    raise InputError(f"{self.path}: not JSON: {error.msg} in line {error.lineno}") from None
                text = f"{text[:error.pos]},{text[error.pos:]}"
        raise InputError(f"{self.path}: not JSON: commas are missing")

    def take(self, *keys: str, default: Any = None) -> Any:
        value: Any = self.content
        for key in keys:
            if not isinstance(value, Mapping) or key not in value:
                return default
            value = value[key]
        self.taken.add(keys)
        return value

    def number(self, *keys: str, default: float | None = None) -> float:
        value = self.take(*keys, default=default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            missing = value is None
            raise InputError(f"{self.path}: {'.'.join(keys)} " + ("is missing" if missing else "must be a number"))
        return float(value)

    def left(self) -> list[str]:
        def walk(value: Any, keys: tuple[str, ...]) -> list[str]:
            if keys in self.taken:
                return []
            if isinstance(value, Mapping) and value:
                return [name for key, part in value.items() for name in walk(part, (*keys, key))]
            return [".".join(keys)]

        return walk(self.content, ())


def single_band(s: Callable, cluster: list) -> dict[str, Any]:
    model = {"t": s("t"), "t_prime": s("t-prime", 0.0), "U": s("U")}
    if V := same(s("V", 0.0), s("V-prime", 0.0)):
        model["V"] = {"1,0": V, "0,1": V}
    return model


def bilayer(s: Callable, cluster: list) -> dict[str, Any]:
    """Return layers as orbitals of one atom: V of unlike and V' of equal spins are then U' and U' - J."""
    t, t_prime = s("t"), s("t-prime", 0.0)
    layers = lambda x: [[x, 0.0], [0.0, x]]
    hopping = {"1,0": layers(-t), "0,1": layers(-t), "0,0": [[0.0, 0.0 - s("t-perp")], [0.0 - s("t-perp"), 0.0]]}
    hopping |= {d: layers(-t_prime) for d in ("1,1", "1,-1") if t_prime}
    V, equal = s("V", 0.0), s("V-prime", 0.0)
    return {"hopping": hopping, "U": s("U"), "U_prime": V, "J": V - equal}


def kagome(s: Callable, cluster: list) -> dict[str, Any]:
    # its vectors are (1/2, 3^(1/2)/2) and (1/2, -3^(1/2)/2): a2 and a1 - a2 of plaq's
    cluster[:] = [[second, first - second] for first, second in cluster]
    return {"lattice": "kagome", "t": s("t"), "amplitudes": {"V": s("V", 0.0)}, "U": s("U")}


def three_band(s: Callable, cluster: list) -> dict[str, Any]:
    """Return the three bands: DCA++ adds to ep_d and ep_p what n - 1/2 takes off on a large cluster."""
    U_d, U_p, V_pd, V_pp = s("U_dd"), s("U_pp"), s("V_pd", 0.0), s("V_pp", 0.0)
    d, p = s("ep_d") + U_d / 2 + 4 * V_pd, s("ep_p") + U_p / 2 + 4 * V_pp + 2 * V_pd
    amplitudes = {"t_pd": s("t_pd"), "t_pp": s("t_pp"), "Delta": round(p - d, 12), "V_pd": V_pd, "V_pp": V_pp}
    return {"lattice": "three_band", "amplitudes": amplitudes, "energies": {name: d for name in ("d", "px", "py")},
            "U": {"d": U_d, "px": U_p, "py": U_p}}


def nickelate(s: Callable, cluster: list) -> dict[str, Any]:
    amplitudes = {"t1_x": -s("t11"), "t1_z": -s("t22"), "t2_x": 0.0, "t2_z": 0.0, "t3_xz": s("t12"), "t4_xz": 0.0,
                  "t_perp_x": -s("t-perp_11"), "t_perp_z": -s("t-perp_22"), "e_x": s("Delta"), "e_z": 0.0}
    return {"lattice": "nickelate", "amplitudes": amplitudes, "U": s("U"), "U_prime": s("V"), "J": s("J"),
            **({"kanamori": True} if s("J") else {})}


MODELS = {"single-band-Hubbard-model": single_band, "bilayer-Hubbard-model": bilayer, "Kagome-Hubbard-model": kagome,
          "threebands-Hubbard-model": three_band, "La3Ni2O7-bilayer-model": nickelate}


def same(V: float, V_prime: float) -> float:
    if V != V_prime:
        raise ValueError("V and V-prime differ: V of unlike and of equal spins is one number here")
    return V


def convert(path: Path) -> str:
    """Return the text of a plaq input with the physics of an input of DCA++. InputError names what has no counterpart.
    """
    source = Source(path)
    sections = {"model": model(source), **run(source)}
    shift_energies(sections, str(path))
    SCHEMA.read(sections, f"{path}, converted")  # refuses what no key takes
    notes = [f"# From {path.name} of DCA++. Its measurements are of each iteration, here of all final ones together."]
    if "single-band-Hubbard-model" in source.content:
        notes.append("# The lattice of DCA++ is chosen when it is built: this is the square lattice.")
    notes += ["# Without counterpart:", *(f"#   {name}" for name in source.left())] if source.left() else []
    for section, content in sections.items():
        notes += ["", f"[{section}]", *(f"{key} = {to_toml(value)}" for key, value in content.items())]
    return "\n".join(notes) + "\n"


def model(source: Source) -> dict[str, Any]:
    """Return [model], with the energies of DCA++."""
    found = [name for name in MODELS if name in source.content]
    if len(found) != 1:
        others = [name for name in source.content if name.endswith("-model")]
        raise InputError(f"{source.path}: {', '.join(found or others) or 'no model'} is not converted: these are "
                         f"{', '.join(MODELS)}, one of them")
    cluster = source.take("domains", "real-space-grids", "cluster")
    if not (isinstance(cluster, list) and cluster and all(
            isinstance(row, list) and len(row) == 2 and all(isinstance(x, int) for x in row) for row in cluster)):
        raise InputError(f"{source.path}: domains.real-space-grids.cluster must be two vectors of two integers")
    cluster = [list(row) for row in cluster]
    try:
        values = MODELS[found[0]](lambda key, default=None: source.number(found[0], key, default=default), cluster)
    except ValueError as error:
        raise InputError(f"{source.path}: {found[0]}: {error}") from None
    return values | {"cluster": cluster}


def run(source: Source) -> dict[str, dict[str, Any]]:
    """Return the sections beside [model]."""
    take, number = source.take, source.number
    if take("DCA", "DCA+", "do-DCA+", default=False):
        raise InputError(f"{source.path}: DCA.DCA+.do-DCA+ = true: only the plain approximation is converted")
    dca: dict[str, Any] = {"temperatures": [1 / number("physics", "beta")]}
    source.taken |= {("physics", "density"), ("physics", "chemical-potential")}  # one of them decides
    fresh = take("DCA", "initial-self-energy", default="zero") == "zero"  # with n - 1/2: the default, of half filling
    if not fresh:
        source.taken.discard(("DCA", "initial-self-energy"))
    if take("physics", "adjust-chemical-potential", default=True) or not fresh:  # a file has mu too, of this density
        dca["density"] = number("physics", "density")
    else:
        dca["mu"] = number("physics", "chemical-potential", default=0.0)
    if (iterations := take("DCA", "iterations")) is not None and ("mu" in dca or iterations > 1):
        dca["iterations"] = iterations
    solver = {}
    for key, name in (("measurements", "measurements"), ("warm-up-sweeps", "warmup"),
                      ("sweeps-per-measurement", "measure_every"), ("seed", "seed")):
        value = take("Monte-Carlo-integration", key)
        if isinstance(value, (int, float)):
            solver[name] = value
        else:
            source.taken.discard(("Monte-Carlo-integration", key))
    return {"dca": dca, "solver": solver, "two_particle": pairs(source)}


def pairs(source: Source) -> dict[str, Any]:
    """Return [two_particle]."""
    take = source.take
    kinds = take("four-point", "channels") or [kind for kind in [take("four-point", "type")] if kind]
    if kinds in ([], ["NONE"]):
        return {"channels": []}
    if unknown := [kind for kind in kinds if kind not in CHANNELS]:
        raise InputError(f"{source.path}: four-point: {unknown[0]}: these are converted: {', '.join(CHANNELS)}")
    found: dict[str, Any] = {"channels": [CHANNELS[kind] for kind in kinds]}
    if (count := take("domains", "imaginary-frequency", "four-point-fermionic-frequencies")) is not None:
        found["frequencies"] = count
    highest = take("four-point", "frequency-transfer", default=0)
    every = take("four-point", "compute-all-transfers", default=False)
    momentum = take("four-point", "momentum-transfer", default=[0, 0])
    found["bosonic"] = list(range(highest + 1)) if every else [highest]
    if not every:
        found["transfers"] = [[x / math.pi for x in momentum]]
    return found


def shift_energies(sections: dict[str, Any], path: str) -> None:
    """Turn mu and energies of a model with n - 1/2 into those of one with n, and list transfers that are not given."""
    def refuse(message: str):
        raise InputError(f"{path}, converted: {message}")

    content = sections["model"]
    h = read_hamiltonian(SCHEMA.read({**sections, "model": content}, path)["model"], refuse)
    shifts = h.interaction.half_filled(len(h.orbitals))
    given = content.pop("energies", {})
    energies = [given.get(name, 0.0) - shift for name, shift in zip(h.orbitals, shifts)]
    if "mu" in sections["dca"]:
        sections["dca"]["mu"] = round(sections["dca"]["mu"] - energies[0], 12)
    above = {name: round(energy - energies[0], 12) for name, energy in zip(h.orbitals, energies)}
    if any(above.values()):
        content["energies"] = {name: energy for name, energy in above.items() if energy}
    wanted = sections["two_particle"]
    if wanted["channels"] and "transfers" not in wanted:
        from plaq.dca.lattice.cluster import Cluster
        from plaq.dca.lattice.hopping import Lattice

        momenta = Cluster(Lattice(h.table, h.orbitals, h.positions), h.vectors).momenta / math.pi
        wanted["transfers"] = momenta.tolist()
