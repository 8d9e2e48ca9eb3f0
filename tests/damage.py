"""Files as faults leave them: a byte changed, the end missing, something lost, added or moved within."""

import numpy as np


def damaged(whole: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """Return (description of the damage, damaged content), which differs from ``whole``, a content of some bytes."""
    at, stop = np.sort(rng.integers(len(whole), size=2)).tolist()
    stop = min(stop, at + int(2 ** rng.uniform(0, 14))) + 1  # most losses are short
    part = whole[at:stop]
    noise = rng.bytes(len(part))
    ways = {
        "byte": whole[:at] + bytes([whole[at] ^ int(rng.integers(1, 256))]) + whole[at + 1 :],
        "bit": whole[:at] + bytes([whole[at] ^ 1 << int(rng.integers(8))]) + whole[at + 1 :],
        "end": whole[:at],
        "zeros": whole[:at] + bytes(len(part)) + whole[stop:],
        "zeros to the end": whole[:at] + bytes(len(whole) - at),
        "noise": whole[:at] + noise + whole[stop:],
        "lost": whole[:at] + whole[stop:],
        "inserted": whole[:at] + noise + whole[at:],
        "twice": whole[:stop] + part + whole[stop:],
        "added": whole + noise,
        "moved": whole[:at] + whole[stop:] + part,
        "foreign": [b"", noise, b"\x89HDF\r\n\x1a\n" + noise, b"text\n" * 99, bytes(len(whole))][rng.integers(5)],
    }
    name = list(ways)[rng.integers(len(ways))]
    return (name, ways[name]) if ways[name] != whole else damaged(whole, rng)
