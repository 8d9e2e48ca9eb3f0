"""Messages between ranks, from the ends that both recorded."""

from __future__ import annotations

import numpy as np

from plaq.trace.model import MESSAGE


def match(ends: np.ndarray) -> np.ndarray:
    """Return MESSAGE rows of the pairs of END rows; an end whose other one was not recorded has none.

    Tags are used again after some time, so that ends of one identity are matched in the order of time.
    """
    ends = ends[np.lexsort((ends["time"], ends["sent"], ends["ends"], ends["wire"]))]
    row = np.arange(len(ends))
    same = (ends["wire"][1:] == ends["wire"][:-1]) & (ends["ends"][1:] == ends["ends"][:-1])
    is_first = np.append(True, ~same)[: len(ends)]  # of its identity
    begins = is_first | np.append(True, ends["sent"][1:] != ends["sent"][:-1])[: len(ends)]  # the sends among these
    turn = row - np.maximum.accumulate(np.where(begins, row, 0))
    key = np.cumsum(is_first) << 32 | turn
    sent, received = np.flatnonzero(ends["sent"]), np.flatnonzero(~ends["sent"])
    _, at, of = np.intersect1d(key[sent], key[received], assume_unique=True, return_indices=True)
    a, b = ends[sent[at]], ends[received[of]]
    out = np.zeros(len(a), MESSAGE)
    out["sender"], out["receiver"], out["bytes"] = a["rank"], b["rank"], a["bytes"]
    out["sent"], out["received"] = a["time"], b["time"]
    for name, end in (("sender", a), ("receiver", b)):
        out[f"{name}_worker"], out[f"{name}_thread"] = end["worker"], end["thread"]
    return out[np.argsort(out["sent"], kind="stable")]
