"""Base of fields on the lattice.

Real and imaginary parts are separate in ``array``, a view of this rank's memory. Complex numbers are in ``local()``, a
copy in the order of sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from plaq.data.display import behind_clicks, block, facts, head, plane_drawing
from plaq.data.estimate import Axis
from plaq.data.formatting import format_size
from plaq.data.recorded import Recorded
from plaq.lqcd.fields.lattice import Lattice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Field:
    """Base of gauge and spinor fields."""

    of_site: tuple[int, ...]

    def __init__(self, lattice: Lattice, native):
        self.lattice, self.native = lattice, native

    @property
    def array(self) -> np.ndarray:
        """Memory of the field, [group, *of_site, re or im, lane], float64, with the sites of `Lattice.sites`."""
        return self.native.array

    def local(self) -> np.ndarray:
        """Return a copy of this rank's box, [t, x, y, z, *of_site], complex128; zero on sites without numbers."""
        values = np.moveaxis(self.array, -1, 1)
        out = np.zeros((*self.lattice.local, *self.of_site), complex)
        out[self._site_indices()] = values[..., 0] + 1j * values[..., 1]
        return out

    def _site_indices(self) -> tuple[np.ndarray, ...]:
        """Return the coordinates of its sites in the order of its memory.

        Fields of one parity have the odd sites, which are last.
        """
        return tuple(np.moveaxis(self.lattice.sites()[-len(self.array):], -1, 0))

    def set_local(self, values: np.ndarray) -> Self:
        """Set this rank's box from [t, x, y, z, *of_site]."""
        values = np.asarray(values)
        if values.shape != (*self.lattice.local, *self.of_site):
            raise ValueError(f"a rank's part of this field is {(*self.lattice.local, *self.of_site)}, "
                             f"not {values.shape}")
        numbers = values[self._site_indices()]
        self.array[:] = np.moveaxis(np.stack([numbers.real, numbers.imag], axis=-1), 1, -1)
        return self

    def whole(self) -> np.ndarray | None:
        """Return [t, x, y, z, *of_site] of the whole lattice on rank 0, None on the others. Collective."""
        parts = self.lattice.comm.gather((self.lattice.box, self.local()))
        if parts is None:
            return None
        out = np.empty((*self.lattice.extents, *self.of_site), complex)
        for box, values in parts:
            out[box] = values
        return out

    def copy(self) -> Self:
        """Return another field with the same numbers."""
        return type(self)(self.lattice, self.native.copy())

    def plane(self) -> np.ndarray | None:
        """Return [t, x, *of_site] at y = z = 0 on rank 0, None on the others. Collective."""
        sites = self.lattice.sites()[-len(self.array):] + np.array([s.start for s in self.lattice.box])
        group, lane = np.nonzero((sites[..., 2] == 0) & (sites[..., 3] == 0))
        numbers = np.moveaxis(self.array, -1, 1)[group, lane]
        parts = self.lattice.comm.gather((sites[group, lane, :2], numbers[..., 0] + 1j * numbers[..., 1]))
        if parts is None:
            return None
        out = np.zeros((*self.lattice.extents[:2], *self.of_site), complex)
        for places, values in parts:
            out[tuple(places.T)] = values
        return out

    def picture(self, plane: np.ndarray) -> Recorded:
        """Return the numbers that a figure shows, from `plane`."""
        sizes = np.sum(np.abs(plane) ** 2, axis=tuple(range(2, plane.ndim)))
        return Recorded("size squared", sizes, plane_axes(plane), "", "sum over components at y = z = 0")

    def plot(self) -> Figure | None:
        """Return a figure of a plane of the field on rank 0, None on the others. Collective."""
        plane = self.plane()
        return None if plane is None else plane_drawing(self.picture(plane)).figure()

    def __repr__(self) -> str:
        return f"<plaq lqcd {type(self).__name__} on {self.lattice.in_words()}>"

    def _repr_html_(self) -> str:
        """Return size and place; with one rank, which needs no others for it, the figure as well."""
        numbers = self.array.size
        drawn = [plane_drawing(self.picture(self.plane()))] if self.lattice.comm.size == 1 else []
        return block(head(repr(self)[1:-1]), facts([
            ("numbers of a site", " x ".join(map(str, self.of_site)) + " complex"),
            ("memory of a rank", format_size(8 * numbers))]), behind_clicks(drawn))


def plane_axes(plane: np.ndarray) -> tuple[Axis, Axis]:
    return Axis("t", np.arange(plane.shape[0]), "a"), Axis("x", np.arange(plane.shape[1]), "a")
