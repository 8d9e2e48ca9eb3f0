"""Colours of names: the same name has the same colour in every trace, as far as there are enough."""

from __future__ import annotations

import numpy as np

#: Eight fills that stay apart for all common kinds of colour blindness, on light and dark pages: at least 0.11 in
#: OKLab under Machado's simulation (IEEE TVCG 15, 1291 (2009)) of full protanopia, deuteranopia and tritanopia.
FILLS = ("#1d7bc0", "#d9903a", "#35b297", "#b24881", "#b69bef", "#93dcec", "#6e5230", "#efd58a")
#: Sixteen names get a look of their own: the fills plain, then striped. All others share a neutral one.
LOOKS = 2 * len(FILLS)
OTHER, WAITING = LOOKS, LOOKS + 1  # the neutral look, and that of all names that wait


def looks(names: list[str], seconds: np.ndarray, waiting: np.ndarray | None = None) -> list[int]:
    """For each name a number below LOOKS, OTHER for those that share the neutral look, WAITING for those that wait.

    The other names with most time come first: each takes the place its hash asks for, or the next free one, among the
    plain fills as long as there are any.
    """
    result = [OTHER if waiting is None or not waiting[k] else WAITING for k in range(len(names))]
    free = [list(range(len(FILLS))), list(range(len(FILLS), LOOKS))]
    for k in sorted((k for k, look in enumerate(result) if look != WAITING), key=lambda k: (-seconds[k], names[k])):
        places = next((places for places in free if places), None)
        if places is None:
            break
        wanted = places[0] - places[0] % len(FILLS) + hash_of(names[k]) % len(FILLS)
        result[k] = min(places, key=lambda place: (place - wanted) % len(FILLS))
        places.remove(result[k])
    return result


def hash_of(name: str) -> int:
    """FNV-1a, 32 bits: Python's own hash differs from run to run."""
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
