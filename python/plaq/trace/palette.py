"""Colours of names: the same name has the same colour in every trace, as far as there are enough."""

from __future__ import annotations

import numpy as np

#: Eight fills that stay apart for all common kinds of colour blindness, on light and dark pages: at least 0.11 in
#: OKLab under Machado's simulation (IEEE TVCG 15, 1291 (2009)) of full protanopia, deuteranopia and tritanopia.
FILLS = ("#1d7bc0", "#d9903a", "#35b297", "#b24881", "#b69bef", "#93dcec", "#6e5230", "#efd58a")
#: Sixteen names get a style of their own: the fills plain, then striped. All others share a neutral one.
STYLES = 2 * len(FILLS)
OTHER, WAITING = STYLES, STYLES + 1  # the neutral style, and that of waiting regions


def styles_of(names: list[str], seconds: np.ndarray, waiting: np.ndarray | None = None) -> list[int]:
    """Return for each name a number below STYLES, OTHER for the shared neutral style, WAITING for waiting regions.

    The other names with most time come first: each gets the fill of its hash, or the next free one, among the plain
    fills as long as there are any.
    """
    result = [OTHER if waiting is None or not waiting[k] else WAITING for k in range(len(names))]
    free = [list(range(len(FILLS))), list(range(len(FILLS), STYLES))]
    for k in sorted((k for k, style in enumerate(result) if style != WAITING), key=lambda k: (-seconds[k], names[k])):
        fills = next((fills for fills in free if fills), None)
        if fills is None:
            break
        preferred = fills[0] - fills[0] % len(FILLS) + hash_of(names[k]) % len(FILLS)
        result[k] = min(fills, key=lambda fill: (fill - preferred) % len(FILLS))
        fills.remove(result[k])
    return result


def hash_of(name: str) -> int:
    """Return the hash FNV-1a, 32 bits: Python's own differs from run to run."""
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
