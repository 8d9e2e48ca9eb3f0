"""An input in normalised units: what the core is asked to do, with formulas that take and give normalised numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.pic.checks import read_formula
from plaq.pic.parameters import Parameters
from plaq.pic.table import DIRECTIONS
from plaq.pic.units import Units

# Yee's mesh: which coordinates of a component are half a cell behind the node.
HALF = {"ex": (1, 0, 0), "ey": (0, 1, 0), "ez": (0, 0, 1), "bx": (0, 1, 1), "by": (1, 0, 1), "bz": (1, 1, 0)}


@dataclass(frozen=True)
class Profile:
    """A formula of places in normalised units, ``at(places)`` [n, D] -> [n]. ``text`` as in the input."""

    text: str
    at: Callable[[np.ndarray], np.ndarray]
    constant: float | None  # its value where it is the same everywhere


class Setup:
    """Of the parameters p: ``cells``, ``lengths``, ``patches``, ``spacing``, ``dt``, ``steps``, and profiles."""

    def __init__(self, p: Parameters):
        self.p = p
        self.units = Units(p.units.system, p.units.density)
        self.length_unit = self.units.of("length")  # the input's, in c/ω_p
        self.cells, self.patches = p.grid.cells, p.grid.patches
        self.dimension = len(self.cells)
        self.directions = DIRECTIONS[:self.dimension]
        self.lengths = tuple(length * self.length_unit for length in p.grid.length)
        self.spacing = tuple(length / n for length, n in zip(self.lengths, self.cells))
        self.dt = p.time.step * self.units.of("time")
        self.steps = max(1, math.ceil(p.time.end / p.time.step - 1e-9))
        self.cell_volume = math.prod(self.spacing)

    def profile(self, key: str, content: str | float, quantity: str) -> Profile:
        """Of a key of the input, whose values are of that quantity."""
        formula = read_formula(content, self.directions, self.p.constants, key)
        unit = self.units.of(quantity)

        def at(places: np.ndarray) -> np.ndarray:
            try:
                return unit * formula.finite(**{d: places[:, i] / self.length_unit
                                                for i, d in enumerate(self.directions)})
            except InputError as error:
                raise InputError(f"{key}: {error}") from None

        constant = None if formula.uses else float(at(np.zeros((1, self.dimension)))[0])
        return Profile(formula.text, at, constant)

    @cached_property
    def density(self) -> dict[str, Profile]:
        return {name: self.profile(f"species.{name}.density", one.density, "density")
                for name, one in self.p.species.items()}

    @cached_property
    def temperature(self) -> dict[str, list[Profile]]:
        return {name: [self.profile(f"species.{name}.temperature", part, "temperature") for part in one.temperature]
                for name, one in self.p.species.items()}

    @cached_property
    def drift(self) -> dict[str, list[Profile]]:
        return {name: [self.profile(f"species.{name}.drift", part, "u") for part in one.drift]
                for name, one in self.p.species.items()}

    @cached_property
    def first_fields(self) -> dict[str, Profile]:
        """ex, … bz at t = 0; without those that are 0 everywhere."""
        found = {f"{kind}{d}": self.profile(f"fields.{kind}", part, kind.upper())
                 for kind in "eb" for d, part in zip(DIRECTIONS, getattr(self.p.fields, kind))}
        return {name: profile for name, profile in found.items() if profile.constant != 0.0}

    def flux(self, name: str) -> np.ndarray:
        """Of [emission.NAME] at the beginning of each step, in n_0 c [step];
        one number where it is always the same."""
        key, unit = f"emission.{name}.flux", self.units.of("flux")
        formula = read_formula(self.p.emission[name].flux, ("t",), self.p.constants, key)
        times = np.arange(self.steps if formula.uses else 1) * self.dt / self.units.of("time")
        try:
            found = unit * formula.finite(t=times)
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
        if found.min() < 0:
            raise InputError(f"{key}: {formula.text} is below 0 at t = {times[int(np.argmin(found))]:.6g}")
        return found

    def envelope(self, name: str) -> np.ndarray:
        """Of [laser.NAME] in the middle of each step, as far as it is not 0."""
        key = f"laser.{name}.envelope"
        formula = read_formula(self.p.laser[name].envelope, ("t",), self.p.constants, key)
        try:
            found = formula.finite(t=(np.arange(self.steps) + 0.5) * self.dt / self.units.of("time"))
        except InputError as error:
            raise InputError(f"{key}: {error}") from None
        found = np.broadcast_to(found, self.steps)
        some = np.flatnonzero(found)
        return found[: some[-1] + 1 if len(some) else 0]

    def conductor_nodes(self, name: str) -> np.ndarray:
        """Numbers of the nodes of [conductor.NAME], x fastest;
        those of high sides that are not periodic are there too."""
        counts = [n + (getattr(self.p.boundaries, d)[0] != "periodic") for n, d in zip(self.cells, self.directions)]
        profile = self.profile(f"conductor.{name}.where", self.p.conductor[name].where, "")
        found, plane = [], math.prod(counts[:-1])
        for last in range(counts[-1]):  # a plane of nodes at a time
            axes = ([np.arange(n) * h for n, h in zip(counts[:-1], self.spacing)]
                    + [np.array([last]) * self.spacing[-1]])
            places = np.stack([part.ravel() for part in np.meshgrid(*axes[::-1], indexing="ij")][::-1], axis=1)
            found.append(last * plane + np.flatnonzero(profile.at(places)))
        nodes = np.concatenate(found)
        if not len(nodes):
            raise InputError(f"conductor.{name}.where: {profile.text} is 0 at every node of the mesh")
        return nodes

    def gas(self, name: str) -> np.ndarray:
        """Density of [ionisation.NAME] in all cells, x fastest; one number where it is the same everywhere."""
        profile = self.profile(f"ionisation.{name}.density", self.p.ionisation[name].density, "density")
        if profile.constant is not None:
            return np.array([profile.constant])
        return profile.at(self.centres([0] * self.dimension, self.cells)).reshape(self.cells).ravel(order="F")

    def potentials(self, side: int) -> list[float]:
        """Of the low (0) or high (1) sides."""
        return [self.units.of("potential") * getattr(self.p.boundaries, f"potential_{d}")[side]
                for d in self.directions]

    def sides(self, key: str, side: int) -> list[str]:
        """What holds at the low (0) or high (1) sides: boundaries.x and so on, or with the prefix ``particles_``."""
        found = []
        for d in self.directions:
            fields, word = getattr(self.p.boundaries, d)[side], getattr(self.p.boundaries, key + d)[side]
            found.append(("periodic" if fields == "periodic" else "absorbed") if word == "auto" else word)
        return found

    @cached_property
    def starts(self) -> list[np.ndarray]:
        """First cells of the patches in each direction, and the end: sizes differ by one cell at most."""
        return [np.arange(parts + 1) * n // parts for n, parts in zip(self.cells, self.patches)]

    def centres(self, first: Any, extent: Any) -> np.ndarray:
        """Of the cells of a box: [cells, D], the last direction fastest."""
        axes = [(np.arange(a, a + n) + 0.5) * h for a, n, h in zip(first, extent, self.spacing)]
        return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)

    def first_field(self, name: str, first: Any, extent: Any) -> np.ndarray:
        """ex, … bz at t = 0 at its Yee points in a box of cells, [x, y, z]."""
        shift = np.array(HALF[name][:self.dimension]) - 1  # from the centres of cells, in half cells
        places = self.centres(first, extent) + 0.5 * shift * np.array(self.spacing)
        return self.first_fields[name].at(places).reshape(extent)

    def patch_boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(first cell, cells) of all patches, x fastest."""
        boxes = []
        for at in np.ndindex(*self.patches[::-1]):
            at = at[::-1]
            first = tuple(int(self.starts[d][i]) for d, i in enumerate(at))
            end = tuple(int(self.starts[d][i + 1]) for d, i in enumerate(at))
            boxes.append((first, tuple(b - a for a, b in zip(first, end))))
        return boxes
