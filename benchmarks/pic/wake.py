"""Wake of a laser pulse in a cylinder with two modes beside the same in three dimensions: `python wake.py [cells]`.

The pulse has a0 = 1, a waist of 3 and a length of 3 c/ω_p (half maximum of the intensity), at 6.28 times the plasma
frequency; `cells` is the number of cells of a wavelength. A cell of z and r has 16 particles, one of x, y, z has 8.
Printed are the first extrema of E_z on the axis behind the pulse, the next place where it is 0, and the largest
difference from z = 5 to 13.5.
"""

from __future__ import annotations

import argparse

import numpy as np

from plaq import pic

LENGTH, RADIUS, END = 20.0, 9.0, 18.0
PULSE = {"at": 1.0, "wavelength": 1.0, "a0": 1.0, "waist": 3.0, "focus": 9.0, "envelope": "if(t < 6, sin(pi*t/6)^2, 0)"}
ELECTRONS = {"charge": -1, "mass": 1, "placed": "even"}
RAMP = "min(1, max(0, ({} - 3)/2))"


def on_axis(three: bool, cells: int, across: int) -> tuple[np.ndarray, np.ndarray]:
    """Return z and E_z on the axis at the end."""
    along = round(LENGTH * cells)
    steps = int(np.ceil(END / 0.95 * np.sqrt(cells**2 + 3 * (across / RADIUS)**2)))  # within the limits of both
    if three:
        sections = {
            "grid": {"cells": [along, 2 * across, 2 * across], "length": [LENGTH, 2 * RADIUS, 2 * RADIUS],
                     "patches": [4, 3, 3]},
            "boundaries": {"x": "absorbing", "y": "conducting", "z": "conducting", "layer": 10},
            "laser": {"pulse": PULSE | {"normal": "x"}},
            "species": {"e": ELECTRONS | {"density": RAMP.format("x"), "per_cell": 8}},
            "probe": {"axis": {"field": "ex", "at": [0, RADIUS, RADIUS], "along": "x", "every": steps}}}
    else:
        sections = {
            "grid": {"geometry": "cylinder", "modes": 2, "cells": [along, across], "length": [LENGTH, RADIUS],
                     "patches": [4, 2]},
            "boundaries": {"z": "absorbing", "layer": 10}, "laser": {"pulse": PULSE | {"normal": "z"}},
            "species": {"e": ELECTRONS | {"density": RAMP.format("z"), "per_cell": 16}},
            "probe": {"axis": {"field": "ez", "at": [0, 0], "along": "z", "every": steps}}}
    results = pic.run(pic.Parameters(time={"end": END, "step": END / steps}, output={"pictures": 0, "gauss": False},
                                     run={"workers": 1}, **sections))
    field = results["axis"]
    return np.asarray(field.axes[1].values), np.asarray(field.values)[-1]


def extrema(z: np.ndarray, field: np.ndarray) -> tuple[float, float, float, np.ndarray]:
    """Return the largest and the smallest field behind the pulse, the zero between them, the smooth field."""
    width = round(1 / (z[1] - z[0]))
    smooth = np.convolve(field, np.ones(width) / width, "same")  # without the laser's own frequency
    behind = (z > 5) & (z < END - 4.5)
    most, least = (pick(np.where(behind, smooth, 0)) for pick in (np.argmax, np.argmin))
    low, high = sorted((most, least))
    k = low + int(np.argmax(np.sign(smooth[low:high]) != np.sign(smooth[low])))
    zero = z[k - 1] + (z[k] - z[k - 1]) * smooth[k - 1] / (smooth[k - 1] - smooth[k])
    return smooth[most], smooth[least], zero, smooth


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("cells", type=int, nargs="?", default=16)
    arguments.add_argument("--across", type=int, default=27, help="cells of the radius")
    given = arguments.parse_args()
    found = {}
    print("| | largest E_z | smallest | zero at z |\n|---|---|---|---|")
    for name, three in (("z and r, two modes", False), ("three dimensions", True)):
        z, field = on_axis(three, given.cells, given.across)
        *numbers, smooth = extrema(z, field)
        found[name] = smooth[(z > 5) & (z < END - 4.5)]
        print(f"| {name} | {numbers[0]:.4f} | {numbers[1]:.4f} | {numbers[2]:.3f} |", flush=True)
    a, b = found.values()
    print(f"\nLargest difference {np.abs(a - b).max() / np.abs(b).max():.1%} of the largest field.")


if __name__ == "__main__":
    main()
