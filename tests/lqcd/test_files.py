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
from plaq.lqcd import gamma
from plaq.lqcd.files import lime

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
    found = {kind: (flags, content) for kind, flags, content in records(ildg.read_bytes())}
    assert [(kind, flags) for kind, (flags, _) in found.items()] == [
        ("xlf-info", 3), ("ildg-format", 2), ("ildg-binary-data", 0), ("ildg-data-lfn", 1), ("scidac-checksum", 3)]
    assert b"<lx>2</lx><ly>6</ly><lz>2</lz><lt>4</lt>" in found["ildg-format"][1]
    sites = [struct.pack(">72d", *numbers) for numbers in links_one_by_one(gauge)]
    assert found["ildg-binary-data"][1] == b"".join(sites)
    sums = [0, 0]
    for number, site in enumerate(sites):
        for i, modulus in enumerate((29, 31)):
            crc, by = zlib.crc32(site), number % modulus
            sums[i] ^= (crc << by | crc >> (32 - by)) & 0xFFFFFFFF
    assert f"<suma>{sums[0]:x}</suma><sumb>{sums[1]:x}</sumb>".encode() in found["scidac-checksum"][1]


def test_a_flipped_bit_fails_the_checksum(gauge, ildg):
    content = bytearray(ildg.read_bytes())
    first = content.index(b"ildg-binary-data") - 16 + 144
    content[first + 37 * 576 + 100] ^= 1 << 5
    ildg.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"conf\.0001: damaged: its checksum is .*, the file says "):
        lqcd.read_ildg(ildg, gauge.lattice)


def test_a_wrong_plaquette_is_found(gauge, ildg):
    content = ildg.read_bytes()
    at = content.index(b"plaquette = ") + 15
    ildg.write_bytes(content[:at] + b"99999" + content[at + 5:])
    with pytest.raises(DamagedFile, match="states that its plaquette is"):
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
    head = (f"BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE{'_3x3' if rows == 3 else ''}\n"
            f"DIMENSION_1 = {X}\n"
            f"DIMENSION_2 = {Y}\nDIMENSION_3 = {Z}\nDIMENSION_4 = {T}\nCHECKSUM = {words:x}\n"
            f"PLAQUETTE = {gauge.plaquette():.10f}\nFLOATING_POINT = {number}\nEND_HEADER\n")
    path = folder / "conf.nersc"
    path.write_bytes(head.encode() + data.tobytes())
    return path


@pytest.fixture(scope="module")
def propagator(gauge):
    matrix = lqcd.Wilson(gauge, 0.11, 0.1, (1, 0, 0.5, 0))
    return lqcd.point_propagator(matrix, (3, 1, 2, 0), 1e-10)


@pytest.fixture
def prop(propagator, tmp_path):
    path = tmp_path / "prop.0001"
    lqcd.write_propagator(path, propagator)
    return path


def records(content):
    """[(kind, flags, content)] of a LIME file."""
    at, found = 0, []
    while at < len(content):
        magic, version, flags, length, kind = struct.unpack(">IHHQ128s", content[at:at + 144])
        assert magic == 0x456789AB and version == 1
        found.append((kind.rstrip(b"\0").decode(), flags >> 14, content[at + 144:at + 144 + length]))
        at += 144 + (length + 7) // 8 * 8
    return found


def test_a_propagator_that_is_written_is_read(propagator, prop, tmp_path):
    again = lqcd.read_propagator(prop, propagator.lattice)
    assert np.abs(again.local - propagator.local).max() < 1e-14
    assert again.source == (3, 1, 2, 0) and again.theta == (1, 0, 0.5, 0)
    lqcd.write_propagator(tmp_path / "single", propagator, bits=32, basis="tmlqcd")
    single = lqcd.read_propagator(tmp_path / "single", lqcd.Lattice(EXTENTS, lanes=1))
    assert 1e-9 < np.abs(single.local - propagator.local).max() < 1e-6
    pion = [lqcd.meson_correlator(one, "gammax") for one in (propagator, again)]
    assert np.allclose(*pion, rtol=1e-13)


def test_a_propagator_in_its_file_is_what_chroma_and_grid_have(propagator, prop):
    """One field, [spin, source spin, colour, source colour] on each site with x fastest, spins in the basis of DeGrand
    and Rossi, and antiperiodic fields, that is (D S)(x) = delta with the links of the last slice times -1."""
    found = records(prop.read_bytes())
    assert [(kind, flags) for kind, flags, _ in found] == [
        ("scidac-private-file-xml", 2), ("scidac-file-xml", 1), ("scidac-private-record-xml", 2),
        ("scidac-record-xml", 0),
        ("scidac-binary-data", 0), ("scidac-checksum", 1)]
    assert b"<dims>2 6 2 4 </dims>" in found[0][2] and b"LHPC_DiracPropagator" in found[1][2]
    assert b"<typesize>2304</typesize><datacount>1</datacount>" in found[2][2]
    assert b"<precision>D</precision>" in found[2][2]
    T, X, Y, Z = EXTENTS
    numbers = np.frombuffer(found[4][2], ">f8").reshape(T, Z, Y, X, 4, 4, 3, 3, 2)
    theirs, S = numbers[..., 0] + 1j * numbers[..., 1], gamma.DEGRAND_ROSSI
    for x in ((0, 0, 0, 0), (3, 1, 5, 1)):
        t, i, j, k = x
        jump = np.exp(1j * np.pi * ((t - 3) / T + 0.5 * (j - 2) / Y))
        ours = jump * propagator.fields()[x]
        assert np.allclose(propagator.jumping()[x], ours, rtol=0, atol=1e-14)
        assert np.allclose(theirs[t, k, j, i, 1, 2], np.einsum("b,bicj,c->ij", S[1], ours, S[2].conj()), rtol=1e-13)


@pytest.mark.parametrize("of", ["usqcd", "tmlqcd"])
def test_twelve_spinors_make_a_propagator(propagator, tmp_path, of):
    """As USQCD's ScalarSource_TwelveSink, after a complex source, and as tmLQCD has them."""
    T, X, Y, Z = EXTENTS
    S = gamma.BASES["degrand-rossi" if of == "usqcd" else "tmlqcd"]
    theirs = propagator.jumping() if of == "usqcd" else propagator.fields()
    turned = np.moveaxis(np.einsum("ab,...bicj,dc->...aidj", S, theirs, S.conj()), (0, 1, 2, 3), (0, 3, 2, 1))
    private = "<scidacRecord><recordtype>0</recordtype><precision>D</precision><typesize>8</typesize>" \
              "<datacount>{}</datacount></scidacRecord>"
    content = b""
    if of == "usqcd":
        content += lime.make_record("scidac-private-file-xml",
                               f"<scidacFile><dims>{X} {Y} {Z} {T}</dims></scidacFile>".encode(), True, True)
        content += lime.make_record("scidac-private-record-xml", private.format(2).encode(), True, False)
        content += lime.make_record("scidac-binary-data", bytes(16 * T * X * Y * Z), False, True)
    for spin in range(4):
        for colour in range(3):
            column = turned[..., spin, colour]
            numbers = np.stack([column.real, column.imag], axis=-1).astype(">f8").tobytes()
            if of == "usqcd":
                content += lime.make_record("scidac-private-record-xml", private.format(24).encode(), True, False)
            else:
                content += lime.make_record("etmc-propagator-format",
                                       f"<etmcFormat><field>diracFermion</field><precision>64</precision><flavours>1"
                                       f"</flavours><lx>{X}</lx><ly>{Y}</ly><lz>{Z}</lz>"
                                       f"<lt>{T}</lt></etmcFormat>".encode(),
                                        True, True)
            content += lime.make_record("scidac-binary-data", numbers, False, True)
    (tmp_path / "prop").write_bytes(content)
    found = lqcd.read_propagator(tmp_path / "prop", propagator.lattice, source=(3, 1, 2, 0), theta=propagator.theta)
    assert np.allclose(found.local, propagator.local, rtol=0, atol=1e-14) and found.source == (3, 1, 2, 0)
    with pytest.raises(InputError, match="does not say where its source is"):
        lqcd.read_propagator(tmp_path / "prop", propagator.lattice)
    (tmp_path / "less").write_bytes(content[:-(len(numbers) + 144)])
    with pytest.raises(DamagedFile, match="a propagator is one of 144, or twelve of 12"):
        lqcd.read_propagator(tmp_path / "less", propagator.lattice, (3, 1, 2, 0))


def test_propagators_that_cannot_be_written_or_read(gauge, propagator, prop):
    noise = lqcd.noise_propagator(lqcd.Wilson(gauge, 0.1), 0, 1)
    with pytest.raises(InputError, match="three colours of a source, not from noise"):
        lqcd.write_propagator(prop, noise)
    with pytest.raises(InputError, match="'ukqcd' is not one of tmlqcd, degrand-rossi"):
        lqcd.write_propagator(prop, propagator, basis="ukqcd")
    with pytest.raises(InputError, match=r"holds a lattice of 4 x 2 x 6 x 2"):
        lqcd.read_propagator(prop, lqcd.Lattice((4, 6, 2, 2)))
    with pytest.raises(DamagedFile, match="a LIME file without the record ildg-binary-data and with 0"):
        lqcd.read_ildg(prop, gauge.lattice)


@pytest.mark.parametrize("format", ["ildg", "nersc", "propagator"])
def test_fuzzed_files_are_what_they_were_or_one_line(gauge, ildg, propagator, prop, tmp_path, format):
    if format == "propagator":
        path, read, expected = prop, lqcd.read_propagator, lqcd.read_propagator(prop, gauge.lattice).local
    else:
        path, read = (ildg, lqcd.read_ildg) if format == "ildg" else (nersc_file(gauge, tmp_path), lqcd.read_nersc)
        expected = gauge.local()
    values = (lambda found: found.local) if format == "propagator" else (lambda found: found.local())
    whole, rng = path.read_bytes(), np.random.default_rng(3)
    refused = 0

    def tried(how, content):
        nonlocal refused
        path.write_bytes(content)
        try:
            assert np.array_equal(values(read(path, gauge.lattice)), expected), how
        except InputError as error:
            assert str(path) in str(error) and "\n" not in str(error), how
            refused += 1

    for _ in range(150):
        tried(*damaged(whole, rng))
    assert refused > 75
    texts = [at for at in range(len(whole)) if at < 1500 or at > len(whole) - 400]  # headers, byte by byte
    for at in texts[::7]:
        tried(at, whole[:at] + bytes([whole[at] ^ 1 << int(rng.integers(8))]) + whole[at + 1:])


def test_a_disk_that_is_full_leaves_the_file_before(gauge, propagator, ildg, prop):
    """A limit on the size of files, which a process gets."""
    code = (f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
            f"from plaq import lqcd\nfrom plaq.errors import RunError\nlattice = lqcd.Lattice({EXTENTS})\n"
            "gauge = lqcd.GaugeField(lattice)\nprop = lqcd.point_propagator(lqcd.Wilson(gauge, 0.1))\n"
            "for write, of, path in ((lqcd.write_ildg, gauge, sys.argv[1]),\n"
             "                        (lqcd.write_propagator, prop, sys.argv[2])):\n"
            "    try:\n        write(path, of)\n        print('written')\n"
             "    except RunError as error:\n        print(error)\n")
    before = ildg.read_bytes(), prop.read_bytes()
    done = subprocess.run([sys.executable, "-c", code, ildg, prop], capture_output=True, text=True, timeout=120,
                          check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and str(ildg) in lines[0] and str(prop) in lines[1], done
    assert all("cannot" in line for line in lines)
    assert (ildg.read_bytes(), prop.read_bytes()) == before and sorted(ildg.parent.iterdir()) == sorted([ildg, prop])


ON_RANKS = """
import sys, numpy as np
from plaq import lqcd
from plaq.comm import world
from plaq.errors import InputError
lattice = lqcd.Lattice((4, 2, 6, 2))
gauge = lqcd.read_ildg(sys.argv[1], lattice)
lqcd.write_ildg(sys.argv[2], gauge)
lqcd.write_propagator(sys.argv[3], lqcd.read_propagator(sys.argv[4], lattice))
matrix = lqcd.Wilson(gauge, 0.12, theta=(1, 0, 0, 0))
pion = lqcd.meson_correlator(lqcd.point_propagator(matrix, (1, 0, 3, 0)), "gammaygamma5")
try:
    lqcd.solve(matrix, lqcd.SpinorField(lattice), residual=0.0)
    raise SystemExit("a residual of zero was taken")
except InputError:  # what C++ throws comes out of its thread
    pass
if world().rank == 0:
    print(pion.tobytes().hex())
"""


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_any_number_of_ranks_reads_writes_and_measures_the_same_bits(ildg, prop, tmp_path):
    printed, props = [], []
    for ranks in (1, 2, 6):
        copy = tmp_path / f"by{ranks}"
        launcher = launcher_command(ranks) if ranks > 1 else []
        done = subprocess.run([*launcher, sys.executable, "-c", ON_RANKS, ildg, copy, f"{copy}.prop", prop],
                              capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == 0 and "leaked" not in done.stderr, done.stderr
        assert copy.read_bytes() == ildg.read_bytes()
        printed.append(done.stdout)
        props.append([content for kind, _, content in records((tmp_path / f"by{ranks}.prop").read_bytes())
                      if "binary" in kind])
    assert len(set(printed)) == 1 and printed[0] and props[0] == props[1] == props[2]
