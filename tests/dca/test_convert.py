"""`plaq dca convert`: inputs in the format of DCA++, with the physics that its models have."""

import json
import tomllib

import pytest

from plaq.dca.convert import MODELS, convert
from plaq.errors import InputError


def content(model, values, physics=None, cluster=((2, 0), (0, 2)), **sections):
    return {"physics": {"beta": 4, "density": 0.9, "chemical-potential": 0.5, **(physics or {})}, model: values,
            "domains": {"real-space-grids": {"cluster": cluster, "sp-host": [[8, 8], [8, -8]]},
                        "imaginary-frequency": {"four-point-fermionic-frequencies": 8}},
            "Monte-Carlo-integration": {"measurements": 5000, "seed": "random"}, **sections}


def converted(tmp_path, *arguments, **sections):
    path = tmp_path / "made.json"
    path.write_text(json.dumps(content(*arguments, **sections)))
    text = convert(path)
    return tomllib.loads(text), text


FIXED = {"adjust-chemical-potential": False}


def test_one_band_with_neighbours(tmp_path):
    """(n - 1/2)(n - 1/2) has half filling at mu = 0; with n n it is at U/2 + 2 V, bonds of 2x2 once."""
    values = {"t": 1.0, "U": 2.0, "V": 0.1, "V-prime": 0.1}
    table, text = converted(tmp_path, "single-band-Hubbard-model", values, FIXED)
    assert table["dca"] == {"temperatures": [0.25], "mu": 0.5 + 1.0 + 2 * 0.1}
    assert table["model"]["V"] == {"1,0": 0.1, "0,1": 0.1} and table["solver"] == {"measurements": 5000}
    for name in ("domains.real-space-grids.sp-host", "Monte-Carlo-integration.seed"):
        assert f"#   {name}\n" in text
    assert "physics." not in text


def test_bilayer_of_unlike_spins(tmp_path):
    values = {"t": 1.0, "t-prime": 0.2, "t-perp": 0.7, "U": 6.0, "V": 3.0, "V-prime": 1.0}
    table, _ = converted(tmp_path, "bilayer-Hubbard-model", values, FIXED)
    assert table["model"]["U_prime"] == 3.0 and table["model"]["J"] == 2.0
    assert table["model"]["hopping"]["0,0"] == [[0, -0.7], [-0.7, 0]] and table["dca"]["mu"] == 0.5 + 3 + 1.5 + 0.5


def test_three_bands_and_their_energies(tmp_path):
    values = {"t_pd": 1.1, "t_pp": 0.5, "ep_d": -7.0, "ep_p": -3.0, "U_dd": 8.0, "U_pp": 0.0, "V_pd": 1.0}
    table, _ = converted(tmp_path, "threebands-Hubbard-model", values, FIXED)
    # DCA++ adds 8/2 and 4 bonds of 1 to ep_d, 2 bonds to ep_p, which n - 1/2 takes off
    amplitudes, energies = table["model"]["amplitudes"], table["model"]["energies"]
    assert -table["dca"]["mu"] == -7.0 - 0.5
    assert amplitudes["Delta"] + energies["px"] - table["dca"]["mu"] == -3.0 - 0.5


def test_start_from_a_file_takes_the_density(tmp_path):
    """The file has mu too, which DCA++ then keeps."""
    table, text = converted(tmp_path, "single-band-Hubbard-model", {"t": 1.0, "U": 2.0}, FIXED,
                            DCA={"initial-self-energy": "conv.bp", "iterations": 1})
    assert table["dca"] == {"temperatures": [0.25], "density": 0.9} and "#   DCA.initial-self-energy\n" in text


def test_vectors_of_the_kagome(tmp_path):
    """a1 = (1/2, r), a2 = (1/2, -r) there; here (1, 0) and (1/2, r), r = 3^(1/2)/2."""
    table, _ = converted(tmp_path, "Kagome-Hubbard-model", {"t": 1.0, "U": 4.0}, cluster=[[2, 1], [0, 3]])
    there = lambda v: ((v[0] + v[1]) / 2, v[0] - v[1])
    here = lambda v: (v[0] + v[1] / 2, v[1])
    assert list(map(here, table["model"]["cluster"])) == list(map(there, [[2, 1], [0, 3]]))
    assert table["dca"]["density"] == 0.9


def test_nickelate_and_two_particle_functions(tmp_path):
    values = {"t11": 0.5, "t12": 0.2, "t22": 0.1, "t-perp_11": 0.0, "t-perp_22": 0.6, "Delta": 0.4, "U": 4.0, "V": 2.0,
              "J": 0.8}
    table, _ = converted(tmp_path, "La3Ni2O7-bilayer-model", values, **{
        "four-point": {"type": "PARTICLE_HOLE_MAGNETIC", "frequency-transfer": 2, "compute-all-transfers": True}})
    assert table["model"]["kanamori"] and table["model"]["amplitudes"]["t_perp_z"] == -0.6
    assert table["two_particle"]["bosonic"] == [0, 1, 2] and len(table["two_particle"]["transfers"]) == 4
    assert table["two_particle"]["frequencies"] == 8


def test_numbers_and_commas_as_dca_reads_them(tmp_path):
    path = tmp_path / "made.json"
    text = json.dumps(content("single-band-Hubbard-model", {"t": 1.0, "U": 8.0}))
    path.write_text(text.replace('"t": 1.0, "U": 8.0', '"t": 1., "U" : 8. ').replace('5000, "seed"', '5000 "seed"')
                    .replace('"random"', "random"))
    assert tomllib.loads(convert(path))["model"]["U"] == 8.0


REFUSED = [
    (("FeAs-model", {"t1": 1.0}), "FeAs-model is not converted"),
    (("single-band-Hubbard-model", {"U": 4.0}), "single-band-Hubbard-model.t is missing"),
    (("single-band-Hubbard-model", {"t": "a", "U": 4.0}), "single-band-Hubbard-model.t must be a number"),
    (("single-band-Hubbard-model", {"t": 1.0, "U": 4.0, "V": 1.0}), "V and V-prime differ"),
    (("single-band-Hubbard-model", {"t": 1.0, "U": 4.0}, {"beta": None}), "physics.beta is missing"),
    (("single-band-Hubbard-model", {"t": 1.0, "U": 4.0}, {}, [[1.5, 0], [0, 1]]), "two vectors of two integers"),
]


@pytest.mark.parametrize("arguments, words", REFUSED)
def test_what_is_refused(tmp_path, arguments, words):
    with pytest.raises(InputError, match=words) as error:
        converted(tmp_path, *arguments)
    assert "\n" not in str(error.value) and "made.json" in str(error.value)


def test_files_that_are_no_inputs(tmp_path):
    path = tmp_path / "made.json"
    for text, words in [("{", "not JSON"), ("[1]", "it has no sections"), ("{}", "no model is not converted")]:
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            convert(path)
    with pytest.raises(InputError, match="there is no such file"):
        convert(tmp_path / "none.json")
    plus = content("single-band-Hubbard-model", {"t": 1.0, "U": 4.0}, DCA={"DCA+": {"do-DCA+": True}})
    path.write_text(json.dumps(plus))
    with pytest.raises(InputError, match="only the plain approximation"):
        convert(path)
    assert len(MODELS) == 5
