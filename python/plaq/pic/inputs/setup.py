"""Input in normalised units: numbers, and profiles that take and return normalised numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.pic.inputs.checks import LARGEST
from plaq.pic.inputs.formula import Formula
from plaq.pic.inputs.geometry import AXES, core_name, yee_shifts
from plaq.pic.inputs.laser_files import Pulse, read_pulse
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.inputs.refusals import read_formula
from plaq.pic.inputs.units import Units

# Formulas are checked before a run at all steps and cells, or at a sample of them, evenly spread, so that the number of
# operations is bounded.
MAX_SAMPLES, MAX_OPERATIONS = 1 << 20, 1 << 26
PIECE = 1 << 17  # steps or points at once
FEW_PATCHES = 1 << 12  # that are checked cell by cell


@dataclass(frozen=True)
class Profile:
    """A formula of points in normalised units, ``at(points)`` [n, D] -> [n]; ``text`` is that of the input."""

    text: str
    at: Callable[[np.ndarray], np.ndarray]
    constant: float | None  # its value where it does not depend on the point


def finite(key: str, formula: Formula, unit: float, **variables: np.ndarray) -> np.ndarray:
    """Return the values of a formula of the input.

    InputError names the key and the place where one is not finite, or above LARGEST in normalised units.
    """
    try:
        return formula.bounded(LARGEST / unit, **variables)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


class Setup:
    """Parameters ``p`` in normalised units: cells, lengths, patches, spacing, dt, steps, and profiles."""

    def __init__(self, p: Parameters):
        self.p = p
        self.units = Units(p.units.system, p.units.density)
        self.length_unit = self.units.of("length")  # the input's, in c/ω_p
        self.cells, self.patches = p.grid.cells, p.grid.patches
        self.dimension = len(self.cells)
        self.cylinder = p.grid.geometry == "cylinder"
        self.axes = AXES[p.grid.geometry]  # names of the components of vectors
        self.directions = self.axes[:self.dimension]
        self.half = yee_shifts(self.axes)
        self.lengths = tuple(length * self.length_unit for length in p.grid.length)
        self.spacing = tuple(length / n for length, n in zip(self.lengths, self.cells))
        self.dt = p.time.step * self.units.of("time")
        self.steps = max(1, math.ceil(p.time.end / p.time.step - 1e-9))
        self.cell_volume = math.prod(self.spacing)
        self.from_files: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}  # particles of species' files

    def volume_at(self, points: np.ndarray) -> np.ndarray | float:
        """Return the volume of a cell, in a cylinder that of its ring at the radius of each point [n, D]."""
        return 2 * math.pi * points[:, 1] * self.cell_volume if self.cylinder else self.cell_volume

    @property
    def parts(self) -> int:
        """Number of fields on the mesh: the mode m = 0 and, of a cylinder's others, factors of cosines and sines."""
        return 2 * self.p.grid.modes - 1

    @property
    def weight_dimension(self) -> int:
        """D of the unit of weights, W = n_0 (c/ω_p)^D: that of the mesh, and 3 in a cylinder, of whole rings."""
        return 3 if self.cylinder else self.dimension

    def core_name(self, field: str) -> str:
        """Return the core's name of a field."""
        return core_name(self.axes, field)

    def profile(self, key: str, content: str | float, quantity: str) -> Profile:
        """Return the profile of a key of the input, whose values have the unit of a quantity."""
        formula = read_formula(content, self.directions, self.p.constants, key)
        unit = self.units.of(quantity)

        def at(points: np.ndarray) -> np.ndarray:
            return unit * finite(key, formula, unit, **{d: points[:, i] / self.length_unit
                                                        for i, d in enumerate(self.directions)})

        constant = None if formula.uses else float(at(np.zeros((1, self.dimension)))[0])
        return Profile(formula.text, at, constant)

    @cached_property
    def density(self) -> dict[str, Profile]:
        return {name: self.profile(f"species.{name}.density", species.density, "density")
                for name, species in self.p.species.items()}

    @cached_property
    def temperature(self) -> dict[str, list[Profile]]:
        return {name: [self.profile(f"species.{name}.temperature", part, "temperature") for part in species.temperature]
                for name, species in self.p.species.items()}

    @cached_property
    def drift(self) -> dict[str, list[Profile]]:
        return {name: [self.profile(f"species.{name}.drift", part, "u") for part in species.drift]
                for name, species in self.p.species.items()}

    @cached_property
    def initial_fields(self) -> dict[str, Profile]:
        """Profiles of ex, … bz at t = 0, without those that are 0 everywhere."""
        profiles = {f"{kind}{d}": self.profile(f"fields.{kind}", part, kind.upper())
                 for kind in "eb" for d, part in zip(self.axes, getattr(self.p.fields, kind))}
        return {name: profile for name, profile in profiles.items() if profile.constant != 0.0}

    @cached_property
    def samples(self) -> int:
        """Largest number of steps or cells at which formulas are checked before a run."""
        p = self.p
        texts = [*p.fields.e, *p.fields.b, *p.external.e, *p.external.b, *(part for species in p.species.values()
                                             for part in (species.density, *species.temperature, *species.drift)),
                 *(part for plate in p.emission.values() for part in (plate.flux, plate.profile)),
                 *(laser.envelope for laser in p.laser.values()),
                 *(part for conductor in p.conductor.values() for part in (conductor.where, conductor.potential)),
                 *(part for d in self.directions for part in getattr(p.boundaries, f"potential_{d}")),
                 *(circuit.source for circuit in p.circuit.values()),
                 *(part for gas in p.gas.values() for part in (gas.density, gas.temperature, *gas.drift))]
        operations = sum(10 + len(text) // 2 for text in texts if isinstance(text, str))
        return max(1 << 10, min(MAX_SAMPLES, MAX_OPERATIONS // max(1, operations)))

    @property
    def sampled_step(self) -> int:
        """Steps from one to the next at which formulas are checked before a run."""
        return -(-self.steps // self.samples)

    def flux(self, name: str, every: int = 1) -> np.ndarray:
        """Return the flux of [emission.NAME] at the beginning of each step, or of every n-th, in n_0 c.

        One number where it is constant. InputError where it is not finite or below 0.
        """
        key, unit = f"emission.{name}.flux", self.units.of("flux")
        formula = read_formula(self.p.emission[name].flux, ("t",), self.p.constants, key)

        def check(times: np.ndarray, values: np.ndarray) -> None:
            if values.min() < 0:
                raise InputError(f"{key}: {formula.text} is below 0 at t = {times[int(np.argmin(values))]:.6g}")

        return np.concatenate(list(self._in_time(key, formula, unit, 0.0, every, check)))

    def envelope(self, name: str, every: int = 1, before: int = 0, after: int = 0) -> np.ndarray:
        """Return the envelope of [laser.NAME] in the middle of each step, or of every n-th, until it stays 0.

        From so many steps before the first one to so many after the last.
        """
        key = f"laser.{name}.envelope"
        formula = read_formula(self.p.laser[name].envelope, ("t",), self.p.constants, key)
        kept, zeros = [np.zeros(0)], 0
        for values in self._in_time(key, formula, 1.0, 0.5, every, steps=(-before, self.steps + after)):
            if not formula.uses:
                values = np.broadcast_to(values, -(-(before + self.steps + after) // every))
            nonzero = np.flatnonzero(values)
            if len(nonzero):
                kept += [np.zeros(zeros), values[: nonzero[-1] + 1]]
                zeros = 0
            zeros += len(values) - (int(nonzero[-1]) + 1 if len(nonzero) else 0)
        return np.concatenate(kept)

    @cached_property
    def pulses(self) -> dict[str, Pulse]:
        """Pulses of the lasers that have a file."""
        return {name: read_pulse(laser.file, laser.checksum, self) for name, laser in self.p.laser.items()
                if laser.file is not None}

    def laser_omega(self, name: str) -> float:
        """Return the angular frequency of [laser.NAME], in ω_p."""
        if name in self.pulses:
            return self.pulses[name].omega
        return 2 * math.pi / (self.p.laser[name].wavelength * self.length_unit)

    def _in_time(self, key: str, formula: Formula, unit: float, shift: float, every: int,
                 check: Callable[[np.ndarray, np.ndarray], None] = lambda times, values: None,
                 steps: tuple[int, int] | None = None) -> Iterator[np.ndarray]:
        """Yield the values of a formula of t at all steps, or every n-th, piece by piece; or from a step to another."""
        begin, end = steps or (0, self.steps)
        count = -(-(end - begin) // every) if formula.uses else 1
        for first in range(0, count, PIECE):
            numbers = begin + np.arange(first, min(first + PIECE, count)) * every
            times = (numbers + shift) * self.dt / self.units.of("time")
            values = unit * finite(key, formula, unit, t=times)
            check(times, values)
            yield values

    def tracked(self, name: str) -> bool:
        """Return whether the particles of a species have ids, because they are written."""
        return bool(self.p.output.every) and name in self.p.output.particles

    @cached_property
    def records_current(self) -> bool:
        """Flag: an output needs J, which an electrostatic run is advanced without."""
        p = self.p
        names = [*(p.output.fields if p.output.every else ()), *(probe.field for probe in p.probe.values()),
                 *(mean.quantity for mean in p.mean.values())]
        return any(name in ("jx", "jy", "jz", "power") for name in names)

    @cached_property
    def node_counts(self) -> list[int]:
        """Number of nodes in each direction, including those of high sides that are not periodic."""
        return [n + (getattr(self.p.boundaries, d)[0] != "periodic") for n, d in zip(self.cells, self.directions)]

    @property
    def sampled_node(self) -> int:
        """Nodes from one to the next at which formulas are checked before a run."""
        return -(-math.prod(self.node_counts) // self.samples)

    def conductor_nodes(self, name: str, every: int = 1) -> np.ndarray:
        """Return the numbers of the nodes of [conductor.NAME], x fastest, among all or every n-th node."""
        profile = self.profile(f"conductor.{name}.where", self.p.conductor[name].where, "")
        parts, count = [], -(-math.prod(self.node_counts) // every)
        for first in range(0, count, PIECE):
            numbers = np.arange(first, min(first + PIECE, count)) * every
            at = np.unravel_index(numbers, self.node_counts, order="F")
            parts.append(numbers[profile.at(np.stack(at, axis=1) * np.array(self.spacing)) != 0])
        nodes = np.concatenate(parts)
        if not len(nodes) and every == 1:
            raise InputError(f"conductor.{name}.where: {profile.text} is 0 at every node of the mesh")
        return nodes

    def permittivity(self, whole: bool = True) -> np.ndarray:
        """Return the relative permittivity of each cell, x fastest; empty without dielectrics.

        Not ``whole``, of a box with more than `samples` cells: only checks formulas at a sample, and returns none.
        """
        if not self.p.dielectric:
            return np.zeros(0)
        profiles = {name: self.profile(f"dielectric.{name}.where", own.where, "")
                    for name, own in self.p.dielectric.items()}
        count, parts, found = math.prod(self.cells), [], set()
        if not whole and count > self.samples:
            for points in self.sample_points():
                for profile in profiles.values():
                    profile.at(points)
            return np.zeros(0)
        for first in range(0, count, PIECE):
            at = np.unravel_index(np.arange(first, min(first + PIECE, count)), self.cells, order="F")
            parts.append(np.ones(len(at[0])))
            for name, profile in profiles.items():
                inside = np.broadcast_to(profile.at((np.stack(at, axis=1) + 0.5) * self.spacing) != 0,
                                         parts[-1].shape)
                if (parts[-1][inside] > 1).any():
                    raise InputError(f"dielectric.{name}.where: {profile.text} has cells of another dielectric")
                parts[-1][inside] = self.p.dielectric[name].permittivity
                found |= {name} if inside.any() else set()
        for name, profile in profiles.items():
            if name not in found:
                raise InputError(f"dielectric.{name}.where: {profile.text} is 0 in every cell")
        return np.concatenate(parts)

    @property
    def electrodes(self) -> list[str]:
        """Names of sides and conductors in the order of the core's potentials."""
        return [*(f"{d} {end}" for d in self.directions for end in ("low", "high")), *self.p.conductor]

    @cached_property
    def potentials(self) -> dict[str, Formula]:
        """Potentials as formulas of t in units of the input: of the sides x low, x high, y low, ..., of conductors.

        Of an electrode with a circuit that of the source.
        """
        found = {f"boundaries.potential_{d}{side}": getattr(self.p.boundaries, f"potential_{d}")[i]
                 for d in self.directions for i, side in enumerate((", low", ", high"))}
        found |= {f"conductor.{name}.potential": conductor.potential for name, conductor in self.p.conductor.items()}
        sources = {self.electrodes.index(circuit.electrode): (f"circuit.{name}.source", circuit.source)
                   for name, circuit in self.p.circuit.items()}
        found = dict(sources.get(i, item) for i, item in enumerate(found.items()))
        return {key: read_formula(content, ("t",), self.p.constants, key) for key, content in found.items()}

    @property
    def varying_potentials(self) -> bool:
        """Flag: a potential depends on t."""
        return any(formula.uses for formula in self.potentials.values())

    def potentials_at(self, steps: np.ndarray) -> np.ndarray:
        """Return the potentials at the end of steps, in m_e c²/e [step, electrode].

        InputError where one is not finite.
        """
        unit, times = self.units.of("potential"), np.asarray(steps) * self.dt / self.units.of("time")
        return np.stack([unit * finite(key, formula, unit, t=times) for key, formula in self.potentials.items()],
                        axis=1)

    def sides(self, key: str, side: int) -> list[str]:
        """Return the conditions at the low (0) or high (1) sides, of fields or, with ``particles_``, of particles."""
        conditions = []
        for d in self.directions:
            fields, word = getattr(self.p.boundaries, d)[side], getattr(self.p.boundaries, key + d)[side]
            conditions.append(("periodic" if fields == "periodic" else "absorbed") if word == "auto" else word)
        return conditions

    @cached_property
    def starts(self) -> list[np.ndarray]:
        """First cells of the patches in each direction, and the end: sizes differ by one cell at most."""
        return [np.arange(parts + 1) * n // parts for n, parts in zip(self.cells, self.patches)]

    def centres(self, first: Any, extent: Any) -> np.ndarray:
        """Return the centres of the cells of a box: [cells, D], the last direction fastest."""
        axes = [(np.arange(a, a + n) + 0.5) * h for a, n, h in zip(first, extent, self.spacing)]
        return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)

    def initial_field(self, name: str, first: Any, extent: Any) -> np.ndarray:
        """Return ex, … bz at t = 0 at its Yee points in a box of cells, [x, y, z]."""
        return self.initial_fields[name].at(self.yee_points(name, self.centres(first, extent))).reshape(extent)

    def yee_points(self, name: str, centres: np.ndarray) -> np.ndarray:
        """Return the points of ex, … bz in the cells with these centres."""
        shift = np.array(self.half[name][:self.dimension]) - 1  # in half cells
        return centres + 0.5 * shift * np.array(self.spacing)

    def sample_points(self) -> Iterator[np.ndarray]:
        """Yield the centres of all cells of the box, or of an evenly spread sample, [n, D] at a time."""
        counts = list(self.cells)
        while math.prod(counts) > self.samples:
            counts[int(np.argmax(counts))] //= 2
        numbers = [(np.arange(k) * n + n // 2) // k for k, n in zip(counts, self.cells)]
        for first in range(0, math.prod(counts), PIECE):
            at = np.unravel_index(np.arange(first, min(first + PIECE, math.prod(counts))), counts, order="F")
            yield np.stack([(cells[i] + 0.5) * h for cells, i, h in zip(numbers, at, self.spacing)], axis=1)

    def points_in_patches(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield numbers of patches, [m], x fastest, and centres of their cells, [m, n, D].

        All cells, or a sample of at most `samples` in all patches together; every n-th of very many patches.
        """
        count, least = math.prod(self.patches), [int(np.diff(starts).min()) for starts in self.starts]
        if math.prod(self.cells) <= self.samples and count <= FEW_PATCHES:
            for number, (first, extent) in enumerate(self.patch_boxes()):
                yield np.array([number]), self.centres(first, extent)[None]
            return
        while math.prod(least) > max(1, self.samples // count):
            least[int(np.argmax(least))] //= 2
        numbers = [starts[:-1, None] + ((np.arange(k) + 0.5) * np.diff(starts)[:, None] / k).astype(np.int64)
                   for k, starts in zip(least, self.starts)]  # of each direction: [patch, cell]
        sampled = np.arange(0, count, -(-count // self.samples))
        for piece in np.array_split(sampled, -(-len(sampled) * math.prod(least) // PIECE)):
            at = np.unravel_index(piece, self.patches, order="F")
            points = np.zeros((len(piece), *least, self.dimension))
            for d, (i, h) in enumerate(zip(at, self.spacing)):
                shape = [len(piece), *(k if e == d else 1 for e, k in enumerate(least))]
                points[..., d] = ((numbers[d][i] + 0.5) * h).reshape(shape)
            yield piece, points.reshape(len(piece), -1, self.dimension)

    def patch_boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return (first cell, cells) of all patches, x fastest."""
        boxes = []
        for at in np.ndindex(*self.patches[::-1]):
            at = at[::-1]
            first = tuple(int(self.starts[d][i]) for d, i in enumerate(at))
            end = tuple(int(self.starts[d][i + 1]) for d, i in enumerate(at))
            boxes.append((first, tuple(b - a for a, b in zip(first, end))))
        return boxes
