"""openPMD files: the standard's validator, checksums, weights, ids."""

import h5py
import numpy as np
import pytest
from openpmd_validator import check_h5

from plaq import pic
from plaq.errors import InputError
from plaq.pic.diagnostics.openpmd import sample_mask
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.units import Units

BOX = {"grid": {"cells": [32, 24], "length": [8, 6], "patches": [4, 3]}, "boundaries": {"x": "conducting"},
       "time": {"end": 1, "step": 0.1}, "run": {"workers": 1}}
WARM = {"density": "1 + 0.1*x", "per_cell": 4, "temperature": 0.01}
PLASMA = {"electrons": {"charge": -1, "mass": 1, "drift": [0.1, 0, 0], **WARM},
          "ions": {"charge": 1, "mass": 1836, **WARM}}
WRITTEN = {"every": 5, "particles": ["electrons", "ions"], "pictures": 0}
FIELDS = ["ex", "ey", "ez", "bx", "by", "bz", "jx", "jy", "jz", "rho"]


def written(folder, **changed):
    """The series of a run of the box with these sections."""
    pic.run(pic.Parameters(**{**BOX, "species": PLASMA, "output": WRITTEN, **changed}), folder)
    return pic.Series(folder)


@pytest.mark.parametrize("changed", [
    {"units": {"density": 1e25}, "output": {**WRITTEN, "fields": FIELDS, "particles_every": 2}},
    {"output": {**WRITTEN, "fields": FIELDS}},
    {"units": {"density": 1e18}, "fields": {"solver": "electrostatic"}, "output": {**WRITTEN, "fields": ["ex", "phi"]}},
], ids=["in SI", "without a density", "electrostatic"])
def test_the_validator_of_the_standard_finds_no_error(tmp_path, changed, capsys):
    written(tmp_path, **changed)
    errors = check_h5.check_file(str(tmp_path / "openpmd/data_00000010.h5"), force_extension_pic=True)[0]
    assert errors == 0, capsys.readouterr().out


def test_weights_are_particles_and_those_that_are_written_stand_for_all(tmp_path):
    every = written(tmp_path / "all", units={"density": 1e25})
    some = written(tmp_path / "some", units={"density": 1e25}, output={**WRITTEN, "particles_every": 3})
    weight = Units("SI", 1e25).in_si("length") ** 2 * 1e25  # W, in particles per m
    for step in (0, 10):
        for name in PLASMA:
            whole, part = every.particles(name, step), some.particles(name, step)
            assert part["w"].sum() == pytest.approx(whole["w"].sum(), rel=0.01)
            assert len(part["w"]) == pytest.approx(len(whole["w"]) / 3, abs=12)  # patches
            at = np.searchsorted(whole["id"], part["id"])
            assert np.array_equal(whole["id"][at], part["id"]) and np.array_equal(whole["u"][at], part["u"])
            assert part["w"] == pytest.approx(3 * whole["w"][at], rel=1e-12)
        assert whole["w"].sum() == pytest.approx(8 * 6 * 1.4, rel=1e-3)
        with h5py.File(tmp_path / f"all/openpmd/data_{step:08}.h5") as file:
            record = file[f"data/{step}/particles/ions/weighting"]
            assert record.attrs["unitSI"] == 1 and record[()].sum() == pytest.approx(8 * 6 * 1.4 * weight, rel=1e-3)
    assert np.array_equal(some.particles("ions", 0)["id"], some.particles("ions", 10)["id"])


def test_one_of_every_n_particles_is_written():
    ids = np.arange(6000, dtype=np.uint64)  # of 4 patches
    for every in (1, 2, 3, 7):
        selected = sample_mask(ids, every, 4)
        for patch in range(4):
            groups = ids[selected & (ids % 4 == patch)] // 4 // every
            assert np.array_equal(groups[:1500 // every], np.arange(1500 // every))
        place = ids[selected] // 4 % every
        assert every == 1 or np.bincount(place.astype(int)) == pytest.approx(6000 / every**2, rel=0.2)


def test_every_array_has_a_checksum_and_no_flipped_bit_is_silent(tmp_path):
    series = written(tmp_path, output={**WRITTEN, "fields": FIELDS})
    path, rng = tmp_path / "openpmd/data_00000010.h5", np.random.default_rng(3)
    with h5py.File(path) as file:
        arrays = []
        file.visititems(lambda name, item: arrays.append(item.fletcher32) if isinstance(item, h5py.Dataset) else None)
    assert len(arrays) == len(FIELDS) + 2 * 7 and all(arrays)
    read = lambda: [*(series.field(name, 10) for name in FIELDS),
                    *(part for name in PLASMA for part in series.particles(name, 10).values())]
    right, content, refused = read(), path.read_bytes(), 0
    for at in rng.choice(len(content), 150, replace=False):
        flipped = bytearray(content)
        flipped[at] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            assert all(map(np.array_equal, read(), right)), at
        except InputError as error:
            assert "\n" not in str(error) and str(path) in str(error)
            refused += 1
    assert refused > 100


def test_particles_emitted_in_the_run_have_ids_of_their_own(tmp_path):
    """From a plate and by a gas that is ionised, and those of a window that moves; two runs that stop and go on, or
    have more patches on a rank, differ in nothing."""
    area = 0.1 * pic.Units("normalised", 1e20).in_si("cross section")
    table = (f"IONIZATION\nX\n5.0\nCOLUMNS: Energy (eV) | Cross section (m2)\n-----\n5.0 {area}\n5e5 {area}\n-----\n")
    gas = {"species": "electrons", "electrons": "electrons", "ions": "ions", "gas": "x", "cross_sections": table}
    plate = {"species": "electrons", "at": [4, 3], "normal": [1, 1], "half_width": 1, "flux": 0.1, "per_cell": 50,
             "drift": 0.5}
    born = {"units": {"density": 1e20}, "emission": {"plate": plate},
            "gas": {"x": {"density": 1, "mass": 1836}}, "scattering": {"s": gas}}
    for name, changed in (("born", born),
                          ("window", {"window": {"speed": 1}, "boundaries": {"x": "absorbing", "layer": 2}})):
        series, before = written(tmp_path / name, **changed), set()
        for step in series.steps:
            found = [series.particles(name, step) for name in PLASMA]
            ids = np.concatenate([part["id"] for part in found])
            assert len(np.unique(ids)) == len(ids) == sum(len(part["w"]) for part in found)
            new = set(ids.tolist()) - before
            assert new
            before |= new


def test_ids_cost_nothing_where_no_particles_are_written():
    p = pic.Parameters(**BOX, species=PLASMA)
    assert not Setup(p).tracked("ions")
    assert Setup(p.replace(output={"every": 5, "particles": ["ions"]})).tracked("ions")


def test_the_potential_is_a_field_of_electrostatic_runs(tmp_path):
    """φ between empty plates is a straight line: in files, probes, pictures."""
    series = written(tmp_path, species={"e": {"charge": -1, "mass": 1}}, fields={"solver": "electrostatic"},
                     boundaries={"x": "conducting", "potential_x": [0.5, -0.7]},
                     probe={"line": {"field": "phi", "at": [0, 3], "along": "x"}},
                     output={"every": 10, "fields": ["phi", "ex"], "pictures": 2})
    line = 0.5 - 1.2 * np.arange(32) / 32
    results = pic.load(tmp_path)
    assert series.field("phi", 10) == pytest.approx(np.repeat(line[:, None], 24, axis=1), abs=1e-13)
    assert results["line"].values[-1] == pytest.approx(line, abs=1e-13) and results["line"].unit == "m_e c²/e"
    assert results["picture_phi"].values[-1][:, 5] == pytest.approx(line, abs=1e-13)
    assert "Potential φ" in (tmp_path / "report.html").read_text()
    for section, message in (({"probe": {"p": {"field": "phi", "at": [1, 1]}}}, 'probe.p.field = "phi" is not allowed'),
                             ({"output": {"fields": ["phi"]}}, 'output.fields = ["phi"] is not allowed: phi is')):
        with pytest.raises(InputError) as error:
            pic.Parameters(**BOX, species=PLASMA, **section)
        assert message in str(error.value)
