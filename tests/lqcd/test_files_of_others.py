"""Configurations as other programs write them: texts with more around them, records that are missing, statements that
are wrong."""

import re

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError
from plaq.files.guard import DamagedFile
from plaq.lqcd.files import lime
from plaq.lqcd.files.gauge_files import as_numbers, scidac_checksum, to_file

EXTENTS = (4, 2, 6, 2)  # t, x, y, z
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
FORMAT = (f"{HEAD}<ildgFormat><version>1.0</version><field>su3gauge</field><precision>64</precision>"
          "<lx>2</lx><ly>6</ly><lz>2</lz><lt>4</lt></ildgFormat>")


@pytest.fixture(scope="module")
def gauge():
    return lqcd.GaugeField(lqcd.Lattice(EXTENTS)).hot(seed=3)


def numbers(gauge, bits=64):
    return as_numbers(to_file(gauge.local()), bits)


def sums(gauge, bits=64, change=0):
    a, b = scidac_checksum(gauge.lattice, numbers(gauge, bits))
    return f"{HEAD}<scidacChecksum><version>1.0</version><suma>{a ^ change:x}</suma><sumb>{b:x}</sumb></scidacChecksum>"


def written(folder, records):
    path = folder / "conf"
    path.write_bytes(b"".join(lime.make_record(kind, text if isinstance(text, bytes) else text.encode(), True, True)
                              for kind, text in records))
    return path


AROUND = [("\n", ""), (" \r\n\t", "\n\n"), ("\ufeff", "\0\0\0"), ("\ufeff\n", " \r\n")]


@pytest.mark.parametrize("before, after", AROUND)
def test_texts_may_have_white_space_and_marks_around_them(gauge, tmp_path, before, after):
    """The writers of SIMULATeQCD and AnalysisToolbox begin their records with an end of line."""
    broken = FORMAT.replace("><", ">\n  <").replace("<lx>2</lx>", "<lx>\n 2\r\n</lx>").replace("\n  <ildg", "<ildg")
    path = written(tmp_path, [("ildg-format", before + broken + after), ("xlf-info", before + "plaquette = "
                              f"{gauge.plaquette():.10f}" + after), ("ildg-binary-data", numbers(gauge).tobytes()),
                              ("scidac-checksum", before + sums(gauge) + after)])
    assert np.array_equal(lqcd.read_ildg(path, gauge.lattice).array, gauge.array)


@pytest.mark.parametrize("text", [FORMAT.replace("UTF-8", "UTF-16").encode("utf-16"),
                                  FORMAT.replace("UTF-8", "ISO-8859-1").replace(
                                      "<version>", "<by>Z\xfcrich</by><version>").encode("latin-1")])
def test_texts_may_have_other_encodings(gauge, tmp_path, text):
    path = written(tmp_path, [("ildg-format", text), ("ildg-binary-data", numbers(gauge).tobytes())])
    assert np.array_equal(lqcd.read_ildg(path, gauge.lattice).array, gauge.array)


def scidac(gauge, bits, wrong=0, dims="2 6 2 4", count=4):
    record = (f"{HEAD}\n<scidacRecord><version>1.0</version><recordtype>0</recordtype><datatype>USQCD_F3_ColorMatrix"
              f"</datatype><precision>{'F' if bits == 32 else 'D'}</precision><colors>3</colors>"
              f"<typesize>{9 * bits // 4}</typesize><datacount>{count}</datacount></scidacRecord>")
    return [("scidac-private-file-xml", f"{HEAD}<scidacFile><version>1.0</version><spacetime>4</spacetime><dims>{dims} "
             "</dims><volfmt>0</volfmt></scidacFile>"),
            ("scidac-file-xml", f"{HEAD}<title>by MILC</title>"), ("scidac-private-record-xml", record),
            ("scidac-record-xml", "<info/>"), ("scidac-binary-data", numbers(gauge, bits).tobytes()),
            ("scidac-checksum", sums(gauge, bits, wrong))]


@pytest.mark.parametrize("bits", [32, 64])
def test_files_of_scidac_without_the_records_of_ildg(gauge, tmp_path, bits):
    """As MILC's save_serial_scidac and Chroma write them; the checksum is looked at."""
    path = written(tmp_path, scidac(gauge, bits))
    found = lqcd.read_ildg(path, gauge.lattice)
    assert np.abs(found.local() - gauge.local()).max() < (1e-7 if bits == 32 else 1e-17)
    with pytest.raises(DamagedFile, match="damaged: its checksum is .*; verify=False reads its links all the same"):
        lqcd.read_ildg(written(tmp_path, scidac(gauge, bits, wrong=5)), gauge.lattice)
    again = lqcd.read_ildg(written(tmp_path, scidac(gauge, bits, wrong=5)), gauge.lattice, verify=False)
    assert np.array_equal(again.array, found.array)
    with pytest.raises(InputError, match="holds a lattice of 2 x 6 x 2 x 4"):
        lqcd.read_ildg(written(tmp_path, scidac(gauge, bits, dims="6 2 4 2")), gauge.lattice)
    with pytest.raises(DamagedFile, match="with 0 fields of 36 complex numbers a site"):
        lqcd.read_ildg(written(tmp_path, scidac(gauge, bits, count=1)), gauge.lattice)


@pytest.mark.parametrize("bits", [32, 64])
def test_links_alone_are_those_of_the_lattice_that_is_given(gauge, tmp_path, bits):
    path = written(tmp_path, [("ildg-binary-data", numbers(gauge, bits).tobytes())])
    assert np.abs(lqcd.read_ildg(path, gauge.lattice).local() - gauge.local()).max() < (1e-7 if bits == 32 else 1e-17)
    with pytest.raises(DamagedFile, match=r"bytes of links, which are not those of \[4, 6, 6, 2\] sites"):
        lqcd.read_ildg(path, lqcd.Lattice((4, 6, 6, 2)))


def test_links_of_64_bits_that_were_made_of_32(gauge, tmp_path):
    content = numbers(gauge, 32).astype(">f8").tobytes()
    path = written(tmp_path, [("ildg-format", FORMAT), ("ildg-binary-data", content)])
    words = "off from unitarity by .*; if its links were converted from 32 to 64 bits, reunitarise=True"
    with pytest.raises(DamagedFile, match=words):
        lqcd.read_ildg(path, gauge.lattice)
    found = lqcd.read_ildg(path, gauge.lattice, reunitarise=True)
    assert found.unitarity_violation() < 1e-14 and np.abs(found.local() - gauge.local()).max() < 1e-6
    path.write_bytes(path.read_bytes().replace(content, (1.01 * numbers(gauge)).astype(">f8").tobytes()))
    with pytest.raises(DamagedFile, match="off from unitarity by 0.03"):
        lqcd.read_ildg(path, gauge.lattice, reunitarise=True)


@pytest.mark.parametrize("note", ["plaquette = 877.174444", "plaquette = -.+e", "plaquette = 1e999"])
def test_a_wrong_note_is_refused_with_the_way_round_it(gauge, tmp_path, note):
    path = written(tmp_path, [("xlf-info", note), ("ildg-format", FORMAT), ("ildg-binary-data",
                                                                           numbers(gauge).tobytes())])
    with pytest.raises(DamagedFile, match="states that its plaquette is .*; verify=False reads its links all the same"):
        lqcd.read_ildg(path, gauge.lattice)
    assert np.array_equal(lqcd.read_ildg(path, gauge.lattice, verify=False).array, gauge.array)


def nersc(folder, gauge, checksum, plaquette, end="\n", before="", kind=">f8"):
    lines = ["BEGIN_HEADER", "DATATYPE = 4D_SU3_GAUGE_3x3", "DIMENSION_1 = 2", "DIMENSION_2 = 6", "DIMENSION_3 = 2",
             "DIMENSION_4 = 4", *([f"CHECKSUM = {checksum}"] if checksum else []),
             *([f"PLAQUETTE = {plaquette}"] if plaquette else []), "ENSEMBLE_LABEL = Z\xfcrich",
             "FLOATING_POINT = IEEE64BIG", "END_HEADER", ""]
    path = folder / "conf"
    path.write_bytes(before.encode() + end.join(lines).encode("latin-1") + numbers(gauge, int(kind[-1]) * 8)
                     .astype(">f8").tobytes())
    return path


def words(gauge):
    return int(numbers(gauge).view(">u4").sum(dtype=np.uint64)) & 0xFFFFFFFF


@pytest.mark.parametrize("end, before", [("\n", ""), ("\r\n", ""), ("\n", "\ufeff"), (" \n", "\n")])
def test_headers_of_nersc(gauge, tmp_path, end, before):
    path = nersc(tmp_path, gauge, f"0x{words(gauge):X}", f"{gauge.plaquette():.10f}", end, before)
    assert np.array_equal(lqcd.read_nersc(path, gauge.lattice).array, gauge.array)
    path = nersc(tmp_path, gauge, None, None, end, before)
    assert np.array_equal(lqcd.read_nersc(path, gauge.lattice).array, gauge.array)


def test_wrong_headers_of_nersc_are_refused_with_the_way_round_them(gauge, tmp_path):
    right = f"{words(gauge):x}", f"{gauge.plaquette():.10f}"
    for stated, said in (((f"{words(gauge) ^ 1:x}", right[1]), "damaged: its checksum is"),
                         (("none", right[1]), "says none"),
                         ((right[0], "0.9"), "states that its plaquette is 0.9"),
                         ((right[0], "nan"), "states that its plaquette is nan")):
        path = nersc(tmp_path, gauge, *stated)
        with pytest.raises(DamagedFile, match=f"{said}.*; verify=False reads its links all the same"):
            lqcd.read_nersc(path, gauge.lattice)
        assert np.array_equal(lqcd.read_nersc(path, gauge.lattice, verify=False).array, gauge.array)
    path = nersc(tmp_path, gauge, None, right[1], kind=">f4")
    with pytest.raises(DamagedFile, match="reunitarise=True reads it"):
        lqcd.read_nersc(path, gauge.lattice)
    assert lqcd.read_nersc(path, gauge.lattice, reunitarise=True).unitarity_violation() < 1e-14


@pytest.mark.parametrize("theta", ["nan 0 0 0", "0 0 inf 0", "1 0 0", "1 0 0 0 0 " * 400])
def test_phases_that_are_no_four_numbers_are_refused(gauge, tmp_path, theta):
    path = tmp_path / "prop"
    lqcd.write_propagator(path, lqcd.point_propagator(lqcd.Wilson(gauge, 0.1), (0, 0, 0, 0), 1e-3))
    kinds = {kind: text for kind, text in records(path)}
    record = f"{HEAD}<propagator><source>0 0 0 0</source><theta>{theta}</theta></propagator>"
    path = written(tmp_path, {**kinds, "scidac-record-xml": record.encode()}.items())
    with pytest.raises(InputError, match="the phases theta are four numbers, not") as refused:
        lqcd.read_propagator(path, gauge.lattice)
    assert len(str(refused.value)) < len(str(path)) + 400


def records(path):
    with open(path, "rb") as file:
        for one in lime.read_records(file, path):
            file.seek(one.offset)
            yield one.type, file.read(one.length)


LONG = "9" * 3000


@pytest.mark.parametrize("change", [("64<", LONG + "<"), ("su3gauge", "x" * 5000), ("<lx>2<", f"<lx>{LONG}<"),
                                    ("<lx>2<", "<lx>" + "y" * 5000 + "<"), ("<lx>2<", "<lx>2<" + "z" * 5000 + " ="),
                                    ("<lx>2</lx>", "<lx>\x01\n\x1b[31m</lx>")])
def test_messages_are_short_whatever_the_file_says(gauge, tmp_path, change):
    path = written(tmp_path, [("ildg-format", FORMAT.replace(*change)), ("ildg-binary-data",
                                                                       numbers(gauge).tobytes())])
    with pytest.raises(InputError, match=re.escape(str(path))) as refused:
        lqcd.read_ildg(path, gauge.lattice)
    assert len(str(refused.value)) < len(str(path)) + 400 and str(refused.value).isprintable()


def test_what_is_written_says_where_it_comes_from(gauge, tmp_path):
    """As the format wants it (ildg-data-lfn), and as tmLQCD's and CL2QCD's readers take it from xlf-info."""
    notes = {"trajectory nr": 40, "beta": "5.7, kappa = 0.14, mu = 0.1, c2_rec = 0"}
    lqcd.write_ildg(tmp_path / "conf", gauge, notes=notes, lfn="lfn://me/beta5.7/conf.000040")
    found = dict(records(tmp_path / "conf"))
    assert found["ildg-data-lfn"] == b"lfn://me/beta5.7/conf.000040"
    assert found["xlf-info"].decode().splitlines() == [
        f"plaquette = {gauge.plaquette():.14f}", "trajectory nr = 40",
        "beta = 5.7, kappa = 0.14, mu = 0.1, c2_rec = 0"]
    names = []
    for name, bits in (("one", 64), ("two", 64), ("three", 32)):
        lqcd.write_ildg(tmp_path / name, gauge, bits)
        names.append(dict(records(tmp_path / name))["ildg-data-lfn"])
    assert re.fullmatch(rb"lfn://plaq/[0-9a-f]{16}", names[0]) and names[0] == names[1] != names[2]
    with pytest.raises(InputError, match="is a text of one line"):
        lqcd.write_ildg(tmp_path / "conf", gauge, notes={"beta": "6\nplaquette = 1"})
