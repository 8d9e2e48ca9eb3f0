"""Orders beside d-wave pairing: eigenvalues behind divergences of the vertex, names, answers, and where they are
seen."""

import io
import json

import h5py
import numpy as np
import pytest
import synthetic
from test_ed_two_particle import ATOM, DIMER, disconnected, make

from plaq.data.estimate import Estimate
from plaq.dca.physics import two_particle as channels
from plaq.dca.physics.instabilities import naming
from plaq.dca.physics.response import responses, structure_factor
from plaq.dca.results import export
from plaq.dca.results.boundaries import boundaries
from plaq.dca.results.report import page
from plaq.dca.results.results import Results, summary
from plaq.dca.solver.ed import two_particle
from plaq.run.folder import RunFolder

PI = np.pi
WINDOW = 8


def exact(system, U, beta, channel, q, window=WINDOW):
    """G4 and chi0 of a half-filled cluster, as the Bethe-Salpeter equation takes them."""
    cluster, n = make(system, U, U / 2, beta), np.arange(-window, window)
    size = len(system[0])
    g4 = two_particle(cluster, channel, q, 0, n)
    free = disconnected(cluster, "magnetic", q, 0, n)  # without the direct part of the charge channel
    if channel == "charge" and q == 0:
        g4 = g4 - (disconnected(cluster, "charge", q, 0, n) - free)
    return g4, np.diag(free.reshape(2 * (2 * window * size,))).reshape(size, -1)


def test_eigenvalues_behind_a_divergence_of_the_vertex_are_left_out():
    # The charge vertex of the Hubbard atom diverges first at T = sqrt(3)/(2 pi) U, beta U = 3.63 (Schaefer et al.
    # 2016).
    blocks = {"s": np.eye(1)}
    for U, spurious in [(3.3, 0), (4.0, 1)]:
        g4, chi0 = exact(ATOM, U, 1.0, "charge", 0, 30)
        modes, physical = channels.modes_of_all_data(blocks, g4, chi0, chi0)["s"]
        assert physical == spurious
        assert np.all(modes.eigenvalues[:spurious].real > 1) and modes.eigenvalues[physical].real < 1
        found = channels.channel(blocks, {"s": (modes, physical)}, "charge_q0_m0", g4, chi0, chi0)
        assert found["lambda_charge_q0_m0_s"] == modes.eigenvalues[physical].real
        np.testing.assert_array_equal(found["eigenvalues_charge_q0_m0_s"], modes.eigenvalues[spurious:spurious + 3])
        np.testing.assert_array_equal(found["eigenvector_charge_q0_m0_s"], modes.vectors[spurious])


def test_the_staggered_magnetic_eigenvalue_rises_towards_one_on_cooling_and_is_su2_symmetric():
    last = 0.0
    for beta in (1.0, 2.0, 4.0):
        value = {}
        for channel in ("magnetic", "transverse", "charge"):
            modes, physical = channels.modes_of_all_data({"s": np.eye(2)}, *(x := exact(DIMER, 6.0, beta, channel, 1)),
                                                    x[1])["s"]
            value[channel] = modes.eigenvalues[physical].real
        assert last < value["magnetic"] < 1 and value["charge"] < value["magnetic"]
        assert value["transverse"] == pytest.approx(value["magnetic"], abs=1e-9)
        last = value["magnetic"]
    assert last > 0.95  # all but a free spin


@pytest.mark.parametrize("channel, q, irrep, order, symbol", [
    ("magnetic", (PI, PI), "s", "Néel antiferromagnetism", "T_N"),
    ("transverse", (PI, -PI), "s", "Néel antiferromagnetism", "T_N"),
    ("magnetic", (0, 0), "s", "ferromagnetism", "T_FM"),
    ("magnetic", (PI, 0), "s+d", "stripe antiferromagnetism", "T_SDW"),
    ("magnetic", (PI, PI / 2), "s", "incommensurate or stripe spin order", "T_SDW"),
    ("charge", (0, 0), "s", "phase separation", "T_PS"),
    ("charge", (PI / 2, 0), "s", "charge order", "T_CDW"),
    ("charge", (PI, PI), "d", "d-wave charge order", "T_d"),
    ("pp", (PI, PI), "s", "pair density wave", "T_PDW"),
])
def test_orders_have_names(channel, q, irrep, order, symbol):
    assert naming(channel, q, irrep) == (order, symbol)


@pytest.fixture(scope="module")
def magnetic():
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.3, 0.25, 0.2]},
                             two_particle={"channels": ["magnetic", "charge"], "below": 1.0})
    results = synthetic.results(p)
    for point in results.points:
        for name in ("lambda_d", "lambda_window", "eigenvector_d"):
            point.observables.pop(name, None)
    results.transition = None
    return p, results


def test_a_transition_of_another_channel_is_found_by_the_same_way_as_tc(magnetic):
    p, results = magnetic
    neel, charge = sorted(results.instabilities(), key=lambda order: order.channel, reverse=True)
    assert (neel.name, neel.status, charge.name, charge.status) == (
        "Néel antiferromagnetism", "found", "charge order", "bound")
    assert abs(neel.transition.value - synthetic.NEEL_T) < 3 * neel.transition.error < 0.01
    assert neel.sentence.startswith("T_N = 0.2") and "by fit" in neel.sentence
    assert any(text.startswith("Néel antiferromagnetism, lambda_magnetic(π,π): T_N = ") for text in results.answers())
    assert results.tc == {"value": None, "error": None, "status": "not measured"}
    one = Results(results.points[-1:])
    assert any("T_N is determined when a run is finished that has lambda_magnetic(π,π) at two temperatures" in text
               for text in one.answers())


def test_another_irrep_is_reported_when_it_leads():
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.3]}, two_particle={"channels": ["charge"], "below": 1.0})
    results = synthetic.results(p)
    assert [order.name for order in results.instabilities()][1:] == ["charge order"]
    for point in results.points:
        point["lambda_charge_q3_m0_d"].mean = np.array(0.6)
    assert [order.name for order in results.instabilities()][1:] == ["charge order", "d-wave charge order"]


def test_structure_factor_and_its_error_through_the_jackknife(magnetic):
    point = magnetic[1].points[0]
    found, correlation = structure_factor(point, "spin"), point["spin_correlation"]
    phases = np.exp(-1j * synthetic.K @ synthetic.SITES.values.T)
    np.testing.assert_allclose(found.mean, (phases @ correlation.mean).real, atol=1e-12)
    samples = (correlation.jackknife @ phases.T).real
    bins = len(samples)
    error = np.sqrt((bins - 1) / bins * np.sum((samples - samples.mean(axis=0)) ** 2, axis=0))
    norm = correlation.error / np.sqrt((bins - 1) / bins * np.sum(
        (correlation.jackknife - correlation.jackknife.mean(axis=0)) ** 2, axis=0))
    assert norm.std() < 0.2 * norm.mean()  # the made-up jackknife values give the error roughly
    np.testing.assert_allclose(found.error, error, rtol=0.3)


def test_every_output_shows_the_instabilities(magnetic, tmp_path):
    p, results = magnetic
    content = summary(results, {})
    assert [order["symbol"] for order in content["transitions"]] == [o.symbol for o in results.instabilities()]
    rows = {tuple(row["q"]): row for row in content["temperatures"][-1]["momenta"]}
    assert set(rows[1.0, 1.0]) == {"q", "m", "spin_susceptibility", "charge_susceptibility", "spin_structure_factor",
                                   "charge_structure_factor", "lambda_magnetic", "lambda_charge"}
    RunFolder(tmp_path / "run", "input", p).write_summary(content)
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["transitions"]

    text = page(results, p, {}, "0" * 64)
    for shown in ("Néel antiferromagnetism", "T<sub>N</sub> = 0.2", "χ<sub>s</sub>", "λ<sub>magnetic</sub>",
                  "Eigenvalues of the other channels", "Spin and charge susceptibility"):
        assert shown in text
    words = [row.in_words() for row in responses(results.points[-1])]
    assert any(line.startswith("q = (π,π): chi_s = ") and "lambda_magnetic = 1.0" in line for line in words)


def test_transitions_are_exported(magnetic):
    p, results = magnetic
    rows = {row["symbol"]: row for row in export.transitions(results)}
    assert rows["T_N"]["value"] == next(
        o.transition.value for o in results.instabilities() if o.symbol == "T_N")
    assert rows["T_CDW"]["value"] is None and rows["T_CDW"]["status"] == "bound"
    lines = export.by_momentum(results)
    assert len(lines) == 3 * len(results.points) and lines[2]["spin_susceptibility"] > 0
    with h5py.File(io.BytesIO(), "w") as file:
        export.write_transitions(file, results)
        assert file["transitions/0_T_N/value"][()] == rows["T_N"]["value"]
        assert file["transitions/1_T_CDW/status"].asstr()[()] == "bound"
        assert np.isnan(file["transitions/1_T_CDW/value"][()])
    with h5py.File(io.BytesIO(), "w") as file:
        export.write_transitions(file, synthetic.results())
        assert file["transitions/0_T_c/value"][()] == synthetic.results().tc["value"]


def test_a_cluster_without_d_wave_gives_the_reason():
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.1]})
    results = synthetic.results(p)
    point = results.points[-1]
    for name in [name for name in point.observables if name.startswith("lambda_") or name == "eigenvector_d"]:
        del point.observables[name]
    rng = np.random.default_rng(1)
    for name in ("lambda_s", "lambda_p", "eigenvector_s", "eigenvector_p"):
        point.observables[name] = synthetic.estimate(rng, name, 0.2, 0.01)
    results.transition = None
    assert results.answer().startswith("no T_c: a d-wave gap changes sign between (π,0) and (0,π), and no function")
    assert "lambda_s = 0.20" in results.answer()


def test_a_complex_pair_is_no_transition():
    """Eigenvalues .99 +- .8 i of Gamma chi0 are no pole of the response."""
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.3]}, two_particle={"channels": ["charge"], "below": 1.0})
    results = synthetic.results(p)
    names = [name for name in results.points[0].observables if name.startswith("lambda_charge") and name.endswith("s")]
    for point, real in zip(results.points, (0.9, 1.1)):
        for name in names:
            point[name].mean = np.array(real)
            point.observables[name.replace("lambda", "eigenvalues")] = Estimate(
                "eigenvalues", np.array([real + 0.8j, real - 0.8j]), np.full(2, 0.01 + 0.01j))
    (charge,) = results.instabilities()[1:]
    assert charge.status == "not measured" and charge.temperatures == []
    assert charge.sentence.endswith("is one of a complex pair at T = 0.3, 0.5, which is not counted: its real part may "
                                    "reach 1 without an order")
    assert charge.sentence in " ".join(results.answers())
    assert all(boundary.symbol != charge.symbol for boundary in boundaries(results))
