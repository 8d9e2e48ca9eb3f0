"""python absorption.py [wavelengths|layers|angles ...]: what part of the energy of a pulse of light comes back from
absorbing sides, one line each: cells a wavelength, cells of the layer, angle between the beam and the normal, stencil.

Without a name all of them, some minutes on one core. The pulse is a plane wave under a Gaussian of x, in a box that is
periodic across; looked at when what comes back is all in the box.
"""

import math
import sys

from plaq import pic

BOX, WIDTH = 30, 3  # wavelengths along x: of the box, of the pulse's Gaussian


def back(wave, layer, degrees=0.0, stencil="yee"):
    """Energy at the end over that at the beginning; cells of side 1."""
    angle = math.radians(degrees)
    across = round(wave / math.sin(angle)) if degrees else 0
    wave = across * math.sin(angle) if degrees else wave
    k, stretch = 2 * math.pi / wave, 1 / math.cos(angle)  # the pulse is as long in periods of x
    cells = round(BOX * wave * stretch)
    found = pic.run(pic.Parameters(
        grid={"cells": [cells, across] if across else [cells], "length": [cells, across] if across else [cells],
              "patches": [max(1, cells // 256), 1] if across else [max(1, cells // 512)]},
        boundaries={"x": "absorbing", "layer": layer}, time={"end": (cells - 2 * layer) * stretch},
        constants={"m": cells / 2, "w": WIDTH * wave * stretch, "kx": k * math.cos(angle), "ky": k * math.sin(angle)},
        fields={"e": [0, 0, f"gauss(x - m, w)*cos(kx*(x - m){' + ky*y' if across else ''})"], "stencil": stencil},
        output={"pictures": 0, "gauss": False}, run={"workers": 1}))
    energy = sum(found[f"{kind}_{d}"].values for kind in ("electric", "magnetic") for d in "xyz")
    return energy[-1] / energy[0]


def say(wave, layer, degrees=0.0, stencil="yee"):
    print(f"{wave:>4} cells a wavelength, layer {layer:>2}, {degrees:>2.0f}°, {stencil:<5}  "
          f"{back(wave, layer, degrees, stencil):8.1e}", flush=True)


def wavelengths():
    for wave in (10, 15, 20, 32, 64):
        say(wave, 10)


def layers():
    for wave in (16, 64):
        for layer in (2, 4, 6, 8, 16, 32):
            say(wave, layer)


def angles():
    for stencil in ("yee", "cowan"):
        for layer in (8, 10, 20):
            for degrees in (30, 45, 60, 75):
                say(16, layer, degrees, stencil)


if __name__ == "__main__":
    for name in sys.argv[1:] or ("wavelengths", "layers", "angles"):
        globals()[name]()
