"""Damaged results: no command shows a number of them."""

import h5py
import pytest
import synthetic
from test_damaged import FILES, fuzz

from plaq.data.results_file import digest_of
from plaq.dca import commands
from plaq.dca.application import Dca
from plaq.dca.results.export import export
from plaq.dca.results.file import FORMAT, check_functions, places, read_results, write_results
from plaq.errors import InputError
from plaq.files.tree import digest


@pytest.fixture
def folder(tmp_path):
    p = synthetic.parameters(dca={"temperatures": [0.1]})
    write_results(tmp_path / "results.h5", synthetic.results(p), p.to_toml(), {"version": "0"})
    return tmp_path


def test_damaged_results(folder):
    path = folder / "results.h5"
    assert fuzz(path, lambda: (digest_of(path, FORMAT), *map(repr, read_results(path)))) == FILES


@pytest.mark.parametrize("command", [commands.load, commands.report, Dca.plot,
                                     lambda folder: export(folder, folder / "export")])
def test_every_command_refuses_them(folder, command):
    path = folder / "results.h5"
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(InputError, match="results.h5: there is no such file"):
        command(folder)
    for content in (whole[: len(whole) // 2], whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="results.h5: .*damaged"):
            command(folder)
    assert [file.name for file in folder.iterdir()] == ["results.h5"]


def test_functions_of_another_run_are_not_taken(folder):
    path, p = folder / "results.h5", synthetic.parameters(dca={"temperatures": [0.1]})
    points = synthetic.results(p).points
    points[0].in_file = ["Sigma"]
    write_results(path, synthetic.results(p), p.to_toml(), {"input": "abc"})
    with h5py.File(path) as file:
        digests = {place: digest(file[place]) for place in places(points)}
    check_functions(path, points, ["ab", "abc"], digests)
    with pytest.raises(InputError, match="points/000/observables/Sigma is not that of the checkpoint beside it"):
        check_functions(path, points, ["ab", "abc"], dict.fromkeys(digests, "0"))
    with pytest.raises(InputError, match="results.h5: holds the results of another input"):
        check_functions(path, points, ["def"], digests)
    points[0].in_file = ["G4_pp"]
    with pytest.raises(InputError, match="results.h5: points/000/observables/G4_pp is not there"):
        check_functions(path, points, ["ab", "abc"], digests)
