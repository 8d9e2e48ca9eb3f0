"""Configurations in files of others: read, written, and known when they are damaged."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from damage import damaged

from plaq import _core, lqcd
from plaq.comm.launch import launcher_command
from plaq.errors import InputError
from plaq.files.guard import DamagedFile

EXTENTS = (4, 2, 6, 2)  # t, x, y, z


@pytest.fixture(scope="module")
def gauge():
    return lqcd.GaugeField(lqcd.Lattice(EXTENTS)).hot(seed=2)


@pytest.fixture
def ildg(gauge, tmp_path):
    path = tmp_path / "conf.0001"
    lqcd.write_ildg(path, gauge)
    return path


def links_one_by_one(gauge, rows=3):
    """The numbers in the order of both formats: t, z, y, x, then directions x, y, z, t."""
    u, (T, X, Y, Z) = gauge.local(), EXTENTS
    for t in range(T):
        for z in range(Z):
            for y in range(Y):
                for x in range(X):
                    yield [part for mu in (1, 2, 3, 0) for number in u[t, x, y, z, mu, :rows].ravel()
                           for part in (number.real, number.imag)]


def test_what_is_written_is_read(gauge, ildg):
    again = lqcd.read_ildg(ildg, gauge.lattice)
    assert np.array_equal(again.array, gauge.array)
    scalar = lqcd.read_ildg(ildg, lqcd.Lattice(EXTENTS, lanes=1))
    assert np.array_equal(scalar.local(), gauge.local())


def test_single_precision(gauge, tmp_path):
    lqcd.write_ildg(tmp_path / "single", gauge, bits=32)
    again = lqcd.read_ildg(tmp_path / "single", gauge.lattice)
    assert np.array_equal(again.local(), gauge.local().astype(np.complex64))


def test_a_file_is_what_the_format_says(gauge, ildg):
    """Read here record by record, number by number."""
    content, at, found = ildg.read_bytes(), 0, {}
    while at < len(content):
        magic, version, flags, length, kind = struct.unpack(">IHHQ128s", content[at:at + 144])
        assert magic == 0x456789AB and version == 1
        found[kind.rstrip(b"\0").decode()] = flags >> 14, content[at + 144:at + 144 + length]
        at += 144 + (length + 7) // 8 * 8
    assert [(kind, flags) for kind, (flags, _) in found.items()] == [
        ("xlf-info", 3), ("ildg-format", 2), ("ildg-binary-data", 1), ("scidac-checksum", 3)]
    assert b"<lx>2</lx><ly>6</ly><lz>2</lz><lt>4</lt>" in found["ildg-format"][1]
    sites = [struct.pack(">72d", *numbers) for numbers in links_one_by_one(gauge)]
    assert found["ildg-binary-data"][1] == b"".join(sites)
    sums = [0, 0]
    for number, site in enumerate(sites):
        for i, modulus in enumerate((29, 31)):
            crc, by = zlib.crc32(site), number % modulus
            sums[i] ^= (crc << by | crc >> (32 - by)) & 0xFFFFFFFF
    assert f"<suma>{sums[0]:x}</suma><sumb>{sums[1]:x}</sumb>".encode() in found["scidac-checksum"][1]


def test_a_flipped_bit_is_found_and_named(gauge, ildg):
    content = bytearray(ildg.read_bytes())
    at = content.index(b"ildg-binary-data") + 2000
    content[at] ^= 1
    ildg.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"conf\.0001: damaged: its checksum is .*, the file says"):
        lqcd.read_ildg(ildg, gauge.lattice)


def test_a_wrong_plaquette_is_found(gauge, ildg):
    content = ildg.read_bytes()
    at = content.index(b"plaquette = ") + 15
    ildg.write_bytes(content[:at] + b"99999" + content[at + 5:])
    with pytest.raises(DamagedFile, match="says that its plaquette is"):
        lqcd.read_ildg(ildg, gauge.lattice)


def test_another_lattice(gauge, ildg):
    with pytest.raises(InputError, match=r"holds a lattice of 4 x 2 x 6 x 2 \(t, x, y, z\), not 4 x 6 x 2 x 2"):
        lqcd.read_ildg(ildg, lqcd.Lattice((4, 6, 2, 2)))
    with pytest.raises(InputError, match="there is no such file"):
        lqcd.read_ildg(ildg.parent / "nothing", gauge.lattice)


@pytest.mark.parametrize("kind, rows", [(">f4", 3), (">f8", 2), ("<f4", 2), ("<f8", 3)])
def test_nersc(gauge, tmp_path, kind, rows):
    path = nersc_file(gauge, tmp_path, kind, rows)
    again = lqcd.read_nersc(path, gauge.lattice)
    assert np.allclose(again.local(), gauge.local(), rtol=0, atol=1e-6 if "4" in kind else 1e-14)
    content = bytearray(path.read_bytes())
    content[-9] ^= 4
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"conf\.nersc: damaged: its checksum is"):
        lqcd.read_nersc(path, gauge.lattice)


def nersc_file(gauge, folder, kind=">f8", rows=3):
    data = np.array(list(links_one_by_one(gauge, rows))).astype(kind)
    words = int(data.view(kind[0] + "u4").sum(dtype=np.uint64)) & 0xFFFFFFFF
    T, X, Y, Z = EXTENTS
    number = f"IEEE{8 * data.itemsize}{'BIG' if kind[0] == '>' else 'LITTLE'}"
    head = (f"BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE{'_3x3' if rows == 3 else ''}\nDIMENSION_1 = {X}\n"
            f"DIMENSION_2 = {Y}\nDIMENSION_3 = {Z}\nDIMENSION_4 = {T}\nCHECKSUM = {words:x}\n"
            f"PLAQUETTE = {gauge.plaquette():.10f}\nFLOATING_POINT = {number}\nEND_HEADER\n")
    path = folder / "conf.nersc"
    path.write_bytes(head.encode() + data.tobytes())
    return path


@pytest.mark.parametrize("format", ["ildg", "nersc"])
def test_fuzzed_files_are_what_they_were_or_one_line(gauge, ildg, tmp_path, format):
    path, read = (ildg, lqcd.read_ildg) if format == "ildg" else (nersc_file(gauge, tmp_path), lqcd.read_nersc)
    whole, rng = path.read_bytes(), np.random.default_rng(3)
    refused = 0
    for _ in range(200):
        how, content = damaged(whole, rng)
        path.write_bytes(content)
        try:
            assert np.array_equal(read(path, gauge.lattice).array, gauge.array), how
        except InputError as error:
            assert str(path) in str(error) and "\n" not in str(error), how
            refused += 1
    assert refused > 100


ON_RANKS = """
import sys, numpy as np
from plaq import lqcd
from plaq.comm import world
from plaq.errors import InputError
lattice = lqcd.Lattice((4, 2, 6, 2))
gauge = lqcd.read_ildg(sys.argv[1], lattice)
lqcd.write_ildg(sys.argv[2], gauge)
matrix = lqcd.Wilson(gauge, 0.12, theta=(1, 0, 0, 0))
pion = lqcd.meson_correlator(lqcd.point_propagator(matrix, (1, 0, 3, 0)), "gammaygamma5")
try:
    matrix.solve(lqcd.SpinorField(lattice), residual=0.0)
    raise SystemExit("a residual of zero was taken")
except InputError:  # what C++ throws comes out of its thread
    pass
if world().rank == 0:
    print(pion.tobytes().hex())
"""


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_any_number_of_ranks_reads_writes_and_measures_the_same_bits(ildg, tmp_path):
    printed = []
    for ranks in (1, 2, 6):
        copy = tmp_path / f"by{ranks}"
        launcher = launcher_command(ranks) if ranks > 1 else []
        done = subprocess.run([*launcher, sys.executable, "-c", ON_RANKS, ildg, copy], capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 0 and "leaked" not in done.stderr, done.stderr
        assert copy.read_bytes() == ildg.read_bytes()
        printed.append(done.stdout)
    assert len(set(printed)) == 1 and printed[0]
