"""Configurations in the formats of other codes, written here as their definitions say."""

import itertools
import struct

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.lqcd.files.gauge_formats import head_of

EXTENTS = (4, 2, 6, 2)


@pytest.fixture(scope="module")
def gauge():
    field = lqcd.GaugeField(lqcd.Lattice(EXTENTS)).hot(seed=3)
    field.heat_bath(beta=5.5, seed=3, sweep=0)
    return field


def openqcd(gauge):
    """Bytes of openQCD's export, link by link."""
    u = gauge.local()
    content = [struct.pack("<4id", *EXTENTS, 3 * gauge.plaquette())]
    for site in itertools.product(*map(range, EXTENTS)):
        if sum(site) % 2:
            for mu in range(4):
                behind = list(site)
                behind[mu] = (behind[mu] - 1) % EXTENTS[mu]
                content += [u[(*site, mu)].astype("<c16").tobytes(), u[(*behind, mu)].astype("<c16").tobytes()]
    return b"".join(content)


def milc(gauge, order):
    """Bytes of MILC's version 5: sites with x fastest, links x, y, z, t, both checksums word by word."""
    links = np.roll(gauge.local(), -1, axis=4).transpose(0, 3, 2, 1, 4, 5, 6)
    numbers = np.stack([links.real, links.imag], axis=-1).astype(f"{order}f4")
    sums = [0, 0]
    for i, word in enumerate(numbers.ravel().view(f"{order}u4").tolist()):
        for s, modulus in enumerate((29, 31)):
            r = i % modulus
            sums[s] ^= (word << r | word >> (32 - r)) & 0xFFFFFFFF
    t, x, y, z = EXTENTS
    return struct.pack(f"{order}5i64si2I", 20103, x, y, z, t, b"today", 0, *sums) + numbers.tobytes()


def test_openqcd(gauge, tmp_path):
    content = openqcd(gauge)
    (tmp_path / "conf").write_bytes(content)
    assert vars(head_of(tmp_path / "conf")) == {"format": "openQCD", "extents": EXTENTS, "bits": 64}
    assert np.array_equal(lqcd.read_gauge(tmp_path / "conf", gauge.lattice).local(), gauge.local())
    (tmp_path / "open").write_bytes(content[:24] + bytes(144) + content[168:])
    with pytest.raises(InputError, match="1 links are zero, as with open or Schroedinger"):
        lqcd.read_openqcd(tmp_path / "open", gauge.lattice)
    (tmp_path / "other").write_bytes(content[:16] + struct.pack("<d", 1.0) + content[24:])
    with pytest.raises(InputError, match="states that its plaquette is 0.333333333333"):
        lqcd.read_openqcd(tmp_path / "other", gauge.lattice)
    (tmp_path / "short").write_bytes(content[:-8])
    with pytest.raises(InputError, match="bytes of links, which are not those"):
        lqcd.read_openqcd(tmp_path / "short", gauge.lattice)


@pytest.mark.parametrize("order", "<>")
def test_milc(gauge, order, tmp_path):
    content = milc(gauge, order)
    (tmp_path / "conf").write_bytes(content)
    assert vars(head_of(tmp_path / "conf")) == {"format": "MILC", "extents": EXTENTS, "bits": 32}
    read = lqcd.read_gauge(tmp_path / "conf", gauge.lattice)
    assert np.abs(read.local() - gauge.local()).max() < 1e-7
    damaged = bytearray(content)
    damaged[500] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(InputError, match="damaged: its checksum is"):
        lqcd.read_gauge(tmp_path / "damaged", gauge.lattice)
    (tmp_path / "short").write_bytes(content[:-4])
    with pytest.raises(InputError, match="bytes of links, which are not those"):
        lqcd.read_gauge(tmp_path / "short", gauge.lattice)


@pytest.mark.parametrize("bits", [32, 64])
def test_nersc_is_written_as_it_is_read(gauge, bits, tmp_path):
    lqcd.write_nersc(tmp_path / "conf", gauge, bits, ensemble="mine", number=7)
    read = lqcd.read_gauge(tmp_path / "conf", gauge.lattice).local()
    assert np.abs(read - gauge.local()).max() <= (0 if bits == 64 else 1e-7)
    text = (tmp_path / "conf").read_bytes().split(b"END_HEADER\n")[0].decode()
    trace = np.einsum("...aa->...", gauge.local()).real.mean() / 3
    assert f"LINK_TRACE = {trace:.8g}"[:20] in text and "SEQUENCE_NUMBER = 7" in text and "DIMENSION_4 = 4" in text
