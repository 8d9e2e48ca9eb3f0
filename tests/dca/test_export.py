"""Exported files hold what the results hold, in the layout that TRIQS writes."""

import csv
import io

import h5py
import numpy as np
import pytest
import synthetic

from plaq.data.estimate import Estimate
from plaq.data.tables import to_csv
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.matsubara import frequency_cutoff, mesh
from plaq.dca.results.export import export, scalars
from plaq.dca.results.file import write_results
from plaq.errors import RunError


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.1, 0.08]})
    cutoff = frequency_cutoff(Lattice(p.hopping()), p.model.U)
    results = synthetic.results(p, frequencies=lambda T: mesh(1 / T, cutoff).omega)
    write_results(folder / "results.h5", results, p.to_toml(), {})
    return results, export(folder, folder / "export")


def test_block_gf_has_the_layout_of_triqs(exported):
    _, paths = exported
    with h5py.File(paths[0]) as file:
        block_gf = file["T_0.1/G_iw"]
        assert block_gf.attrs["Format"] == "BlockGf"
        assert block_gf["block_names"].attrs["Format"] == "List"
        assert [block_gf["block_names"][str(i)][()].decode() for i in range(4)] == ["K0", "K1", "K2", "K3"]
        block = block_gf["K2"]
        assert block.attrs["Format"] == "Gf" and block["data"].attrs["__complex__"] == "1"
        mesh = block["mesh"]
        assert mesh.attrs["Format"] == "MeshImFreq"
        assert set(mesh) == {"beta", "statistic", "size", "positive_freq_only"}
        assert mesh["statistic"][()] == b"F" and mesh["beta"][()] == 10.0 and mesh["positive_freq_only"][()] == 0
        assert block["data"].shape == (mesh["size"][()], 1, 1, 2)
        assert np.array_equal(file["T_0.1/momenta"], synthetic.K)


def test_dense_self_energy_is_the_known_function(exported):
    results, paths = exported
    with h5py.File(paths[0]) as file:
        group = file["T_0.08/Sigma_iw"]
        data = np.array([group[f"K{i}/data"][:, 0, 0, 0] + 1j * group[f"K{i}/data"][:, 0, 0, 1] for i in range(4)])
    half = data.shape[1] // 2
    w = np.pi * 0.08 * (2 * np.arange(-half, half) + 1)
    eps = -2 * np.cos(synthetic.K).sum(axis=1)[:, None]
    strength = 9 * np.array([0.8, 1.4, 1.4, 0.8])[:, None]
    exact = 2.85 + strength / (1j * w + 0.4 - 0.2 * eps)
    assert np.abs(data - exact).max() < 1e-5  # 1e-8 of the basis, times the size of Sigma at small w


def test_csv_holds_every_number(exported):
    results, paths = exported
    files = {path.name: path for path in paths}
    rows = list(csv.DictReader(files["Sigma.csv"].open()))
    point = results.at(0.1)
    at = [row for row in rows if float(row["T"]) == 0.1]
    assert len(at) == point["Sigma"].mean.size
    assert list(rows[0]) == ["T", "K_x", "K_y", "omega", "re", "im", "re_error", "im_error"]
    read = np.array([float(row["re"]) + 1j * float(row["im"]) for row in at]).reshape(point["Sigma"].mean.shape)
    assert np.array_equal(read, point["Sigma"].mean)


def test_scalars_leave_out_observables_without_measurements(exported):
    results, _ = exported
    rows = scalars(results)
    assert "lambda_d" not in rows[0] and rows[1]["lambda_d"] == results.at(0.1)["lambda_d"].mean
    assert rows[2]["sign_error"] == results.at(0.08)["sign"].error


def test_scalars_name_each_column_once(exported):
    results, _ = exported
    results.at(0.1).observables["mu"] = Estimate("mu", np.array(2.1), np.array(0.003), unit="t")
    rows = list(csv.reader(io.StringIO(to_csv(scalars(results)))))
    assert rows[0][:4] == ["T", "beta", "mu", "mu_error"] and len(set(rows[0])) == len(rows[0])
    assert [row[2:4] for row in rows[1:3]] == [["2.0", ""], ["2.1", "0.003"]]
    del results.at(0.1).observables["mu"]


def test_frequencies_of_another_mesh_are_refused(tmp_path):
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.1, 0.08]})
    write_results(tmp_path / "results.h5", synthetic.results(p), p.to_toml(), {})
    with pytest.raises(RunError, match="G at T = 0.5 is not on the sparse frequencies"):
        export(tmp_path, tmp_path / "export")
