"""Configurations in the formats of other codes, written here as their definitions say."""

import itertools
import struct

import h5py
import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.lqcd.fields import gamma
from plaq.lqcd.files.gauge_formats import head_of
from plaq.lqcd.files.info import describe

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


def test_hirep(gauge, tmp_path):
    """A header of colours, extents and plaquette, then links in plaq's order, all big endian."""
    content = struct.pack(">5id", 3, *EXTENTS, gauge.plaquette()) + gauge.local().astype(">c16").tobytes()
    (tmp_path / "conf").write_bytes(content)
    assert vars(head_of(tmp_path / "conf")) == {"format": "HiRep", "extents": EXTENTS, "bits": 64}
    assert np.array_equal(lqcd.read_gauge(tmp_path / "conf", gauge.lattice).local(), gauge.local())
    lqcd.write_hirep(tmp_path / "again", gauge)
    assert (tmp_path / "again").read_bytes() == content
    for name, words, changed in (
            ("two", "with 2 colours; plaq has three", struct.pack(">5id", 2, *EXTENTS, 0.5) + bytes(4 * 64 * 96)),
            ("short", "neither a LIME file", content[:-8]),
            ("other", "states that its plaquette is 0.25", struct.pack(">5id", 3, *EXTENTS, 0.25) + content[28:])):
        (tmp_path / name).write_bytes(changed)
        with pytest.raises(InputError, match=words):
            lqcd.read_gauge(tmp_path / name, gauge.lattice)


def pyquda_sums(field, numbers=9):
    """PyQUDA's checksums of [t, z, y, x, ...], site by site."""
    sums = [0, 0]
    for i, words in enumerate(field.reshape(-1, numbers).view("<u4")):
        word = int(np.bitwise_xor.reduce(words))
        for s, modulus in enumerate((29, 31)):
            r = i % modulus
            sums[s] ^= (word << r | word >> (32 - r)) & 0xFFFFFFFF
    return [f"{one:08x}" for one in sums]


@pytest.mark.parametrize("kind", ["<c16", "<c8"])
def test_hdf5_of_pyquda(gauge, tmp_path, kind):
    links = np.roll(gauge.local(), -1, axis=4).transpose(0, 3, 2, 1, 4, 5, 6).astype(kind)
    with h5py.File(tmp_path / "conf", "w") as file:
        for mu in range(4):
            one = file.create_dataset(f"LatticeColorMatrix/{mu}", data=np.ascontiguousarray(links[..., mu, :, :]))
            one.attrs["sum29"], one.attrs["sum31"] = pyquda_sums(np.ascontiguousarray(links[..., mu, :, :]))
    bits = 64 if kind == "<c16" else 32
    assert vars(head_of(tmp_path / "conf")) == {"format": "HDF5", "extents": EXTENTS, "bits": bits}
    assert np.allclose(lqcd.read_gauge(tmp_path / "conf", gauge.lattice).local(), gauge.local(), atol=1e-7)
    lqcd.write_hdf5(tmp_path / "again", gauge, bits)
    with h5py.File(tmp_path / "again") as file, h5py.File(tmp_path / "conf") as other:
        group = file["LatticeColorMatrix"]
        assert group.attrs["Lattice"] == "2 6 2 4" and group["X"].dtype == kind
        for mu, key in enumerate("XYZT"):
            one = other[f"LatticeColorMatrix/{mu}"]
            assert np.array_equal(group[key][()], one[()]) and dict(group[key].attrs) == dict(one.attrs)
    with h5py.File(tmp_path / "conf", "r+") as file:
        file["LatticeColorMatrix/2"][0, 0, 0, 0, 0, 0] += 1e-3
    with pytest.raises(InputError, match="damaged: the checksum of /LatticeColorMatrix/2 is"):
        lqcd.read_gauge(tmp_path / "conf", gauge.lattice)


def test_hdf5_of_qdp(gauge, tmp_path):
    """One dataset of matrices of compound numbers; FUEL's has one for each direction; two of them are refused."""
    links = np.roll(gauge.local(), -1, axis=4).transpose(0, 3, 2, 1, 4, 5, 6)
    pair = np.dtype([("re", "<f8"), ("im", "<f8")])
    matrices = np.empty((*links.shape[:5], 3, 3), pair)
    matrices["re"], matrices["im"] = links.real, links.imag
    with h5py.File(tmp_path / "qdp", "w") as file:
        one = file.create_dataset("config/links", links.shape[:5], np.dtype((pair, (3, 3))))
        one[...] = matrices
    with h5py.File(tmp_path / "fuel", "w") as file:
        for mu in range(4):
            one = file.create_dataset(f"config/{mu}", links.shape[:4], np.dtype((pair, (3, 3))))
            one[...] = matrices[..., mu, :, :]
    for name in ("qdp", "fuel"):
        assert head_of(tmp_path / name).bits == 64
        assert np.array_equal(lqcd.read_gauge(tmp_path / name, gauge.lattice).local(), gauge.local())
    with h5py.File(tmp_path / "fuel", "r+") as file:
        file.copy("config", "second")
    (tmp_path / "short").write_bytes((tmp_path / "qdp").read_bytes()[:-500])
    for name, words in (("fuel", "an HDF5 file with 2 configurations"), ("short", "short: damaged, or not a config")):
        with pytest.raises(InputError, match=words):
            lqcd.read_gauge(tmp_path / name, gauge.lattice)


def test_propagators_of_pyquda(gauge, tmp_path):
    """[t, z, y, x, spin, source spin, colour, source colour] in the basis of DeGrand and Rossi, and checksums."""
    source, theta = (1, 0, 2, 1), (1.0, 0, 0, 0)
    S = lqcd.point_propagator(lqcd.Wilson(gauge, 0.12, theta=theta), source, 1e-8)
    change = gamma.basis("degrand-rossi")
    theirs = np.einsum("ab,...bicj,dc->...adij", change, S.jumping(), change.conj())
    theirs = np.ascontiguousarray(theirs.transpose(0, 3, 2, 1, 4, 5, 6, 7))
    with h5py.File(tmp_path / "prop.h5", "w") as file:
        one = file.create_dataset("LatticeSpinColorMatrix/pt", data=theirs)
        one.attrs["sum29"], one.attrs["sum31"] = pyquda_sums(theirs.reshape(-1, 144), 144)
    again = lqcd.read_propagator(tmp_path / "prop.h5", gauge.lattice, source, theta=theta)
    assert np.allclose(again.local, S.local, atol=1e-12)
    assert "propagator, 1 field of 144 complex numbers a site, 64 bits" in describe(tmp_path / "prop.h5")
    np.save(tmp_path / "prop.npy", theirs)
    again = lqcd.read_propagator(tmp_path / "prop.npy", gauge.lattice, source, theta=theta)
    assert np.allclose(again.local, S.local, atol=1e-12)
    assert "propagator, 1 field of 144 complex numbers a site, 64 bits" in describe(tmp_path / "prop.npy")
    with h5py.File(tmp_path / "prop.h5", "r+") as file:
        file["LatticeSpinColorMatrix/pt"][0, 0, 0, 0, 0, 0, 0, 0] += 1e-3
    with pytest.raises(InputError, match="damaged: the checksum of /LatticeSpinColorMatrix/pt is"):
        lqcd.read_propagator(tmp_path / "prop.h5", gauge.lattice, source)


@pytest.mark.parametrize("kind", ["<c16", ">c8"])
def test_npy_of_pyquda(gauge, tmp_path, kind):
    """An array [direction, t, z, y, x, row, column], directions x, y, z, t; others are refused."""
    links = np.roll(gauge.local(), -1, axis=4).transpose(4, 0, 3, 2, 1, 5, 6).astype(kind)
    np.save(tmp_path / "conf.npy", links)
    assert vars(head_of(tmp_path / "conf.npy")) == {"format": "numpy", "extents": EXTENTS,
                                                    "bits": 64 if kind == "<c16" else 32}
    assert np.allclose(lqcd.read_gauge(tmp_path / "conf.npy", gauge.lattice).local(), gauge.local(), atol=1e-7)
    np.save(tmp_path / "real.npy", links.real)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(links))
    np.save(tmp_path / "few.npy", links[:3])
    np.save(tmp_path / "zero.npy", 0 * links)
    (tmp_path / "short.npy").write_bytes((tmp_path / "conf.npy").read_bytes()[:-8])
    for name, words in (("real", "an array of .*; plaq reads complex"), ("fortran", "in the order of Fortran; plaq"),
                        ("few", "a configuration of PyQUDA has"), ("zero", "a link is off from unitarity"),
                        ("short", "bytes of numbers, which are not those of")):
        with pytest.raises(InputError, match=words):
            lqcd.read_gauge(tmp_path / f"{name}.npy", gauge.lattice)


@pytest.mark.parametrize("order", "<>")
def test_other_files_of_milc_are_refused_by_name(gauge, tmp_path, order):
    for magic, words in ((12781, "a propagator in MILC's own format"), (23209, "of staggered quarks"),
                         (59354, "version 4 or earlier"), (0x71626434, "the Fermilab format")):
        (tmp_path / "file").write_bytes(struct.pack(f"{order}i", magic) + bytes(400))
        for read in (lqcd.read_gauge, lqcd.read_propagator):
            with pytest.raises(InputError, match=words):
                read(tmp_path / "file", gauge.lattice)
