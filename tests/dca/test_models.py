"""[model]: ready models beside their published bands, tables of wannier90, fields, and what is refused."""

import numpy as np
import pytest

from plaq.dca.inputs.table import SCHEMA
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.interaction import DN, UP
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.dca.lattice.ready import READY
from plaq.dca.parameters import Parameters
from plaq.errors import InputError
from plaq.inputs.parameters import plain

K = np.random.default_rng(3).uniform(-np.pi, np.pi, (5, 3))
C, S = np.cos, np.sin
TWO = {"cluster": [[1, 0], [0, 1]]}


def parameters(**model):
    return Parameters("input.toml", model={"U": 4.0, **model}, dca={"temperatures": [0.5], "mu": 2.0, "isolated": True},
                      solver={"kind": "ed"}, two_particle={"channels": []})


def hamiltonian(**model):
    def refuse(message):
        raise AssertionError(message)

    values = SCHEMA.read({"model": {"U": 4.0, **plain(model)}, "dca": {"temperatures": [1.0]}}, "input.toml")
    return read_hamiltonian(values["model"], refuse)


def bands(h, k, spin=UP):
    """Return eigenvalues of h_ab(k) = sum_d t_ab(d) exp(i k.d)."""
    return np.linalg.eigvalsh(sum(np.array(m) * np.exp(1j * np.dot(d, k[:len(d)])) for d, m in h.hopping[spin].items()))


def square(k, t=1.0, t_prime=0.0):
    return -2 * t * (C(k[0]) + C(k[1])) - 4 * t_prime * C(k[0]) * C(k[1])


def three_bands(k, pd=1.13, pp=0.49, Delta=3.24):
    x, y = S(k[0] / 2), S(k[1] / 2)
    return [[0, 2j * pd * x, -2j * pd * y], [-2j * pd * x, Delta, 4 * pp * x * y],
            [2j * pd * y, 4 * pp * x * y, Delta]]


def nickelate(k):
    T = [[2 * t1 * (C(k[0]) + C(k[1])) + 4 * t2 * C(k[0]) * C(k[1]) + e for t1, t2, e in
          ((-0.483, 0.069, 0.776), (-0.110, -0.017, 0.409))]]
    V, far = (2 * t * (C(k[0]) - C(k[1])) for t in (0.239, -0.034))
    layer, between = np.diag(T[0]) + V * np.eye(2)[::-1], np.diag([0.005, -0.635]) + far * np.eye(2)[::-1]
    return np.block([[layer, between], [between, layer]])


def pnictide(k, t1=-1.0, t2=1.3, t3=-0.85, t4=-0.85):
    cc, ss = 4 * t3 * C(k[0]) * C(k[1]), -4 * t4 * S(k[0]) * S(k[1])
    x, y = (-2 * (a * C(k[0]) + b * C(k[1])) - cc for a, b in ((t1, t2), (t2, t1)))
    return [[x, ss], [ss, y]]


def honeycomb(k):
    size = abs(1 + np.exp(1j * k[0]) + np.exp(1j * k[1]))
    return [-size, size]


def kagome(k):
    cosines = [C(x / 2) for x in (k[0], k[1], k[0] - k[1])]
    root = np.sqrt(4 * sum(c**2 for c in cosines) - 3)
    return [-1 - root, -1 + root, 2]


PUBLISHED = {
    "chain": ({"cluster": [[4]], "t_prime": 0.3}, lambda k: [-2 * C(k[0]) - 0.6 * C(2 * k[0])]),
    "square": ({"t_prime": 0.3}, lambda k: [square(k, t_prime=0.3)]),
    "triangular": ({}, lambda k: [square(k) - 2 * C(k[0] - k[1])]),
    "honeycomb": (TWO, honeycomb),
    "kagome": (TWO, kagome),
    "cubic": ({"cluster": np.diag([2, 2, 2]), "t_prime": 0.1}, lambda k: [
        -2 * C(k).sum() - 0.4 * (C(k[0]) * C(k[1]) + C(k[1]) * C(k[2]) + C(k[0]) * C(k[2]))]),
    "bilayer": (TWO | {"amplitudes": {"t_perp": 0.7}}, lambda k: [square(k) - 0.7, square(k) + 0.7]),
    "three_band": (TWO, lambda k: np.linalg.eigvalsh(three_bands(k))),
    "nickelate": (TWO | {"J": 0.4}, lambda k: np.linalg.eigvalsh(nickelate(k))),
    "pnictide": (TWO | {"J": 0.4}, lambda k: np.linalg.eigvalsh(pnictide(k))),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_bands_of_ready_models(name):
    model, published = PUBLISHED[name]
    h = hamiltonian(lattice=name, **model)
    for k in K:
        np.testing.assert_allclose(bands(h, k), np.sort(published(k)), atol=1e-12)


def test_what_the_one_band_path_keeps():
    assert not parameters().is_general and not parameters(lattice="triangular").is_general
    assert parameters(lattice="square").fingerprint() == parameters().fingerprint()
    assert parameters(U={"1": 4.0}).fingerprint() == parameters().fingerprint()
    for model in ({"U": -1.0}, {"V": {"1,0": 0.1}}, {"field": 0.1}, {"lattice": "chain", "cluster": [[2]]}):
        assert parameters(**model).is_general, model
    p = Parameters(model={"U": 4}, dca={"temperatures": [1], "density": 1})
    assert p.solver.kind == "ctaux" and p.hopping() == parameters().hopping()


def test_atoms_of_the_nickelate_and_energies_by_name():
    h = hamiltonian(lattice="nickelate", U=4.0, J=0.5, kanamori=True, energies={"z1": 0.1, "z2": 0.1}, **TWO)
    assert {(p.a, p.b) for p in h.interaction.pairs} == {(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (2, 3)}
    assert {p.value for p in h.interaction.pairs} == {4.0, 3.0, 2.5}
    assert len(h.interaction.exchanges) == 8
    assert h.hopping[UP][0, 0][1][1] == pytest.approx(0.509)


def test_v_of_ready_models_counts_every_bond_of_a_cell():
    h = hamiltonian(lattice="three_band", amplitudes={"V_pd": 0.5, "V_pp": 0.25}, cluster=[[2, 0], [0, 2]])
    between = [p for p in h.interaction.pairs if p.a != p.b]
    assert sum(p.value for p in between) == 4 * (4 * 0.5 + 4 * 0.25)  # four spins, four bonds of each kind
    kagome = hamiltonian(lattice="kagome", amplitudes={"V": 1.0}, **TWO)
    assert sum(p.value for p in kagome.interaction.pairs if p.a != p.b) == 4 * 3  # one cell: each pair of sites once


def test_spins_and_fields():
    h = hamiltonian(hopping={"1,0": -1.0}, hopping_down={"1,0": -0.5, "0,1": -0.2}, field=0.4)
    for k in K:
        np.testing.assert_allclose(bands(h, k, UP), [-2 * C(k[0]) - 0.2], atol=1e-12)
        np.testing.assert_allclose(bands(h, k, DN), [-C(k[0]) - 0.4 * C(k[1]) + 0.2], atol=1e-12)


@pytest.mark.parametrize("lattice, cluster", [("chain", [[4]]), ("square", [[2, 2], [2, -2]]),
                                              ("cubic", np.diag([2, 2, 2]))])
def test_staggered_field_doubles_the_cell(lattice, cluster):
    h = hamiltonian(lattice=lattice, cluster=cluster, staggered_field=0.6)
    assert 2 * abs(np.linalg.det(h.vectors)).round() == abs(np.linalg.det(cluster)).round()
    for k in K:
        k = k[:len(cluster)]
        energy = np.hypot(-2 * C(k).sum(), 0.3)
        np.testing.assert_allclose(bands(h, np.array(h.momentum(k))), [-energy, energy], atol=1e-12)


@pytest.mark.parametrize("lattice, density, fermi, bands_there", [
    ("nickelate", 3, 0.001, {"Γ": 3, "X": 2, "M": 0}), ("pnictide", 2, 1.543, {"Γ": 0, "X": 2, "M": 0})])
def test_published_bands_have_their_fermi_surface(lattice, density, fermi, bands_there):
    """E_F at the density of the material, which nickelate has at 0, and bands below it at Γ, X and M."""
    h = Lattice(hamiltonian(lattice=lattice, J=0, **TWO).table, READY[lattice].orbitals)
    k = 2 * np.pi * (np.arange(200) + 0.5) / 200
    energies = np.sort(h.energies(np.stack(np.meshgrid(k, k), axis=-1)).ravel())
    found = energies[density * 200 * 200 // 2]
    assert found == pytest.approx(fermi, abs=2e-3)
    for name, count in bands_there.items():
        point = np.pi * np.array({"Γ": (0, 0), "X": (1, 0), "M": (1, 1)}[name])
        assert np.count_nonzero(h.energies(point) < found) == count


def hr(tmp_path, hops, count, dimension=3, degeneracy=1, end=None):
    lines = ["made here", str(count), str(len(hops)), " ".join([str(degeneracy)] * len(hops))]
    for d, m in hops.items():
        d = (*d, 0, 0)[:3]
        lines += [f"{d[0]} {d[1]} {d[2]} {a + 1} {b + 1} {degeneracy * np.real(m[a][b]):.8f} "
                  f"{degeneracy * np.imag(m[a][b]):.8f}" for b in range(count) for a in range(count)]
    path = tmp_path / "made_hr.dat"
    path.write_text("\n".join(lines[:end]) + "\n")
    return {"hopping_file": str(path)}


def test_hr_file_is_the_table_it_was_written_from(tmp_path):
    h = hamiltonian(lattice="nickelate", J=0, **TWO)
    read = parameters(**hr(tmp_path, h.hopping[UP], 4, degeneracy=2), J=0, U_prime=0, **TWO)
    for d, m in h.hopping[UP].items():
        np.testing.assert_allclose(read.hamiltonian.hopping[UP][d], m, atol=1e-8)
    assert read.model.hopping_file is None  # the run's own copy needs no file
    (tmp_path / "copy.toml").write_text(read.to_toml())
    assert Parameters.read(tmp_path / "copy.toml").fingerprint() == read.fingerprint()
    cut = hamiltonian(**hr(tmp_path, h.hopping[UP], 4), J=0, U_prime=0, hopping_cutoff=0.1, **TWO)
    assert set(cut.hopping[UP]) == {(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)}


def test_hr_file_has_the_symmetry_that_rounding_and_fit_break(tmp_path):
    """Noise of a ten-thousandth of the largest hop, and far hops as small as it, leave the group of the bands."""
    exact = hamiltonian(lattice="pnictide", J=0, **TWO).hopping[UP]
    rng, noisy = np.random.default_rng(0), {}
    for d in [*exact, (3, 1), (-3, -1)]:
        m = np.array(exact.get(d, np.zeros((2, 2)))) + 1e-4 * rng.uniform(-1, 1, (2, 2))
        back = noisy.get(tuple(-x for x in d))
        noisy[d] = (m + m.T) / 2 if not any(d) else m if back is None else back.T
    read = hamiltonian(**hr(tmp_path, noisy, 2), J=0, U_prime=0, **TWO)
    count = len(Lattice(hamiltonian(lattice="pnictide", J=0, **TWO).table, ("xz", "yz")).operations)
    assert len(Lattice(read.table, ("1", "2")).operations) == count > 4
    for d, m in exact.items():
        np.testing.assert_allclose(read.hopping[UP][d], m, atol=1e-4)


def test_hr_file_that_is_refused(tmp_path):
    h = hamiltonian(lattice="honeycomb", **TWO).hopping[UP]
    refused = {
        "cut short": hr(tmp_path, h, 2, end=-3) | TWO,
        "not Hermitian": None, "only real hopping": None, "it hops to": None,
    }
    for words, model in refused.items():
        if words == "not Hermitian":
            model = hr(tmp_path, h | {(1, 0): [[0, 0.5], [0, 0]]}, 2) | TWO
        elif words == "only real hopping":
            model = hr(tmp_path, h | {(0, 0): [[0, -1 + 0.2j], [-1 - 0.2j, 0]]}, 2) | TWO
        elif words == "it hops to":
            model = hr(tmp_path, {(0, 0, 0): np.eye(2), (0, 0, 1): np.eye(2), (0, 0, -1): np.eye(2)}, 2) | TWO
        with pytest.raises(InputError, match=words) as error:
            parameters(**model, J=0)
        assert "\n" not in str(error.value)


TWO_ORBITALS = {"hopping": {"1,0": [[-1, 0.1], [0.1, -1]]}}
REFUSED = [
    ({"hopping": {"1,0": [[-1, 0], [0, -1]], "-1,0": [[-1, 0.3], [0, -1]]}, "J": 0}, "must be the transpose"),
    ({"hopping": {"0,0": [[0, 1], [0, 0]], "1,0": [[-1, 0], [0, -1]]}, "J": 0}, "must be a symmetric matrix"),
    ({"hopping": {"1,0": [[-1, 0], [0, -1]], "0,1": [[-1]]}, "J": 0}, "of 1 rows, and there are 2 orbitals"),
    ({"hopping": {"1,0": [[-1, 0], [0, -1]], "0,1": -1.0}, "J": 0}, "must be a matrix of 2 rows of 2"),
    ({"hopping": {"1,0": [[-1, 0]]}}, "is not allowed"),
    ({"hopping": {"1,0": [[-1]]}}, "with one orbital it must be a number"),
    ({"hopping": {"1,0": -1.0, "1,0,0": -1.0}}, "is not allowed"),
    ({"hopping": {"1,0,0": -1.0}}, "has 3 component(s), and model.cluster has 2"),
    ({**TWO_ORBITALS, "orbitals": ["a"]}, "with one orbital it must be a number"),
    ({**TWO_ORBITALS, "orbitals": ["a", "a"], "J": 0}, "must not repeat a name"),
    (TWO_ORBITALS, "model.J is missing"),
    ({**TWO_ORBITALS, "J": 1, "orbitals": ["a", "b"], "energies": {"c": 1.0}}, 'names "c", which is no orbital'),
    ({**TWO_ORBITALS, "J": 1, "U": {"1": 4, "2": 5}}, "model.U_prime is missing"),
    ({**TWO_ORBITALS, "kanamori": True, "U_prime": 2}, "model.kanamori = true: model.J is missing"),
    ({**TWO_ORBITALS, "kanamori": True, "J": 0}, "model.kanamori = true: model.J is 0 and must not be"),
    ({**TWO_ORBITALS, "J": 1, "V": {"1,0": 0.1}}, 'model.V "1,0" = 0.1: with 2 orbitals it must be a matrix'),
    ({"J": 1.0}, "model.J needs two orbitals on one atom, and there is one"),
    ({"energies": {"1": 1.0}}, "belongs into dca.mu"),
    ({"V": {"0,0": 1.0}}, "a site with itself"),
    ({"V": {"2,0": 1.0}}, "leads to the same site on the cluster"),
    ({"V": {"3,0": 1.0}, "cluster": [[4, 0], [0, 2]]}, "reaches beyond the cluster"),
    ({"V": {"1,0": 1.0, "-1,0": 2.0}}, "must be equal"),
    ({"lattice": "kagome", "t_prime": 0.1}, 'the lattice "kagome" has no t_prime'),
    ({"lattice": "bilayer", "amplitudes": {"t_z": 0.1}}, 'model.amplitudes holds "t_z": allowed here: t_perp'),
    ({"lattice": "chain"}, 'has 2 vector(s), and the lattice "chain" has 1 dimension(s)'),
    ({"lattice": "chain", "hopping": {"1,0": -1.0}}, "model.hopping replaces model.lattice"),
    ({"hopping_cutoff": 0.1}, "model.hopping_cutoff needs model.hopping_file"),
    ({"hopping_down": {"1,0": -1.0}}, "model.hopping_down needs model.hopping"),
    ({"hopping_file": "none_hr.dat"}, "none_hr.dat: there is no such file"),
    ({"cluster": [[2, 0], [0, 2, 0]]}, "is not square"),
    ({"lattice": "kagome", "staggered_field": 0.1, **TWO}, "for lattices of one orbital"),
    ({"staggered_field": 0.1, "cluster": [[3, 0], [0, 2]]}, "every vector needs an even sum"),
]


@pytest.mark.parametrize("model, words", REFUSED)
def test_bad_model_is_one_clear_line(model, words):
    with pytest.raises(InputError) as error:
        parameters(**model)
    assert words in str(error.value) and "\n" not in str(error.value), str(error.value)


def test_what_no_solver_takes():
    run = {"dca": {"temperatures": [1.0], "density": 1.0}}
    for model, words in [({"U": -1.0}, "U < 0"), ({"U": 1.0, "field": 0.1}, "spins that differ"),
                         ({"U": 1.0, "V": {"1,0": 0.1}}, "an interaction between sites"),
                         ({"U": 1.0, "lattice": "kagome"}, "3 orbitals")]:
        with pytest.raises(InputError, match=f'"ctaux" takes one band with U ≥ 0 .* this model has {words}'):
            Parameters(model=model, solver={"kind": "ctaux"}, **run)
