"""Colours of names: apart for everyone, and the same in every trace."""

from itertools import combinations

import numpy as np
import pytest

from plaq.trace.palette import FILLS, STYLES, styles_of

# Machado, Oliveira and Fernandes, IEEE TVCG 15, 1291 (2009), severity 1; for linear RGB.
SEEN_BY = {
    "everyone": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def oklab(linear):
    """Ottosson's OKLab of linear sRGB."""
    to_cones = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.6806995, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
    to_lab = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.9779985, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    return to_lab @ np.cbrt(to_cones @ np.clip(linear, 0, 1))


@pytest.mark.parametrize("eye", SEEN_BY)
def test_fills_stay_apart(eye):
    rgb = np.array([[int(fill[k : k + 2], 16) for k in (1, 3, 5)] for fill in FILLS]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = [oklab(np.array(SEEN_BY[eye]) @ colour) for colour in linear]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.11


def test_sixteen_names_differ_and_the_rest_is_neutral():
    names = [f"task {k}" for k in range(30)]
    seconds = np.arange(30.0)
    found = styles_of(names, seconds)
    assert sorted(found[14:]) == list(range(STYLES)) and set(found[:14]) == {STYLES}
    assert set(found[22:]) == set(range(len(FILLS)))  # the eight largest have plain fills


def test_a_name_keeps_its_colour():
    few = dict(zip(["walker", "measure"], styles_of(["walker", "measure"], np.array([2.0, 1.0]))))
    more = ["a", "walker", "measure", "z"]
    assert few["walker"] == styles_of(more, np.array([0.0, 2.0, 1.0, 0.5]))[1]
    assert few == dict(zip(["walker", "measure"], styles_of(["walker", "measure"], np.array([5.0, 3.0]))))
