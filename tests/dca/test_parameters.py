"""The parameters of plaq dca: what is checked across keys, what the table promises, and the frozen object."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import synthetic

from plaq.dca.inputs.table import SCHEMA, TABLE
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.parameters import Parameters
from plaq.errors import InputError

ROOT = Path(__file__).parents[2]


def test_protocol_of_the_example_reads():
    p = Parameters.read(ROOT / "examples/tc_plaquette/input.toml")
    assert p.model.U == 6.0 and p.dca.density == 0.95 and p.dca.mu is None
    assert p.dca.temperatures == (1.0, 0.75, 0.5, 0.25, 0.125, 0.1, 0.09, 0.08, 0.07)
    assert p.model.cluster == ((2, 0), (0, 2))
    assert p.measures_two_particle(0.1) and not p.measures_two_particle(0.125)


@pytest.mark.parametrize(
    "sections, message",
    [
        (
            {"dca": {"density": None}},
            "exactly one of dca.density and dca.mu must be given: neither is given",
        ),
        ({"dca": {"mu": 3.0}}, "both are given"),
        ({"dca": {"density": 2.0}}, "dca.density = 2.0 is not allowed: it must be a number in [0.01, 1.99]"),
        ({"dca": {"temperatures": [0.1, 0.0]}}, "dca.temperatures = [0.1, 0.0] is not allowed"),
        ({"dca": {"temperatures": [0.1, 0.1]}}, "must not repeat a value"),
        ({"dca": {"iterations": 3, "minimum_iterations": 4}},
         "dca.minimum_iterations = 4 must be ≤ dca.iterations = 3"),
        ({"model": {"cluster": [[2, 0], [4, 0]]}}, "model.cluster = [[2, 0], [4, 0]] is singular"),
        ({"model": {"cluster": [[2.5, 0], [4, 0]]}}, "model.cluster = [[2.5, 0], [4, 0]] is not allowed"),
        ({"model": {"cluster": [[9, 0], [0, 9]]}}, "81 sites: at most 64"),
        ({"model": {"U": -1001.0}},
         "model.U = -1001.0 is not allowed: it must be a number in [-1000, 1000], or a table by orbital"),
        ({"model": {"hopping": {"1,0": -1.0, "-1,0": -0.5}}}, "must be equal"),
        ({"model": {"hopping": {"0,0": 1.0}}}, "site energy"),
        ({"model": {"hopping": {"1,0": -1.0}, "t_prime": 0.2}}, "model.hopping replaces"),
        ({"solver": {"kind": "ed"}}, "needs dca.isolated = true"),
        (
            {
                "dca": {"isolated": True, "mu": 3.0, "density": None},
                "solver": {"kind": "ed"},
                "model": {"cluster": [[4, 0], [0, 4]]},
            },
            "at most 8 sites or orbitals: model.cluster has 16",
        ),
        ({"solver": {"chains": 7}}, "solver.bins = 64 and solver.chains = 7: one must be a multiple of the other"),
        ({"solver": {"chains": 96}}, "solver.bins = 64 and solver.chains = 96: one must be a multiple of the other"),
        (
            {"solver": {"chains": 6400, "measurements": 1000}},
            "solver.measurements = 1000 must be ≥ solver.chains = 6400",
        ),
        ({"solver": {"bins": 32}}, "solver.bins = 32 is not allowed: it must be an integer from 64 to 65536"),
        ({"solver": {"measurements": 10}}, "solver.measurements = 10 must be ≥ solver.bins = 64"),
        ({"two_particle": {"measurements": 10}}, "two_particle.measurements = 10 must be ≥ solver.bins = 64"),
        ({"solver": {"measurements_first": 10}}, "solver.measurements_first = 10 must lie between"),
        ({"two_particle": {"frequencies": 8, "omega_max": 5.0}}, "both set the window"),
        ({"two_particle": {"omega_max": 1e4}}, "two_particle.omega_max = 10000.0 holds 22736 frequencies at T = 0.07"),
        ({"two_particle": {"channels": ["pp", "pp"]}}, 'channels = ["pp", "pp"] must not repeat a value'),
        ({"two_particle": {"bosonic": [0, 1, 0]}}, "two_particle.bosonic = [0, 1, 0] must not repeat a value"),
        (
            {"two_particle": {"transfers": [[0.0, 0.0], [0.5, 0.0]]}},
            "transfers: [0.5, 0.0] pi/a is not a momentum of the cluster; these are (0,0) (π,0) (0,π) (π,π)",
        ),
        (
            {"model": {"cluster": [[2, 2], [2, -2]]}, "two_particle": {"transfers": [[0.5, 0.0]]}},
            "transfers: [0.5, 0.0] pi/a is not a momentum of the cluster; these are (0,0) (π,0) (π/2,π/2)",
        ),
        ({"two_particle": {"transfers": [[1, 1], [-1, 1]]}},
         "transfers: [1.0, 1.0] and [-1.0, 1.0] are the same momentum"),
        ({"two_particle": {"transfers": [[1, 0], [1, 0]]}},
         "transfers: [1.0, 0.0] and [1.0, 0.0] are the same momentum"),
        ({"solver": {"block_length": 5000}}, 'it must be "auto" or an integer from 1 to 4096'),
        ({"solver": {"K": 1e-9}}, 'solver.K = 1e-09 is not allowed: it must be "auto" or a number in [1e-3, 1e4]'),
        ({"model": {"hopping": {"1,0": -1.0, "99,0": -0.1}}}, "model.hopping reaches further than 64"),
        ({"run": {"threads": "hpy"}}, 'run.threads = "hpy" is not allowed: it must be "fiber" or "os"'),
        ({"model": {"chains": 4}}, "unknown key model.chains; did you mean solver.chains?"),
    ],
)
def test_bad_input_is_one_clear_line(sections, message):
    with pytest.raises(InputError) as error:
        synthetic.parameters(**sections)
    assert (
        message in str(error.value)
        and str(error.value).startswith("input.toml: ")
        and "\n" not in str(error.value)
    )


@pytest.mark.parametrize("vectors", [[[2, 0], [0, 2]], [[2, 2], [2, -2]], [[3, 1], [-1, 3]], [[4, 1], [-2, 4]]])
def test_every_momentum_of_a_cluster_is_a_transfer_and_the_same_one_to_the_loop(vectors):
    cluster = Cluster(Lattice.square(), vectors)
    shifted = (cluster.momenta / np.pi + [2, -4]).tolist()
    p = synthetic.parameters(model={"cluster": vectors}, two_particle={"transfers": shifted})
    assert [cluster.momentum_index(np.pi * np.array(q)) for q in p.two_particle.transfers] == list(range(cluster.size))


def test_file_errors_name_the_file(tmp_path):
    with pytest.raises(InputError, match="none.toml: there is no such file"):
        Parameters.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[model\nU = 6")
    with pytest.raises(InputError, match="bad.toml: not a TOML file"):
        Parameters.read(tmp_path / "bad.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="bytes.toml: not a TOML file: byte 0"):
        Parameters.read(tmp_path / "bytes.toml")


def test_settings_win_over_the_file():
    p = Parameters.read(ROOT / "examples/tc_plaquette/input.toml", ["model.U=8", "dca.density=none", "dca.mu=3.5"])
    assert p.model.U == 8.0 and p.dca.mu == 3.5 and p.dca.density is None


def test_resolved_file_reads_back_to_the_same_parameters(tmp_path):
    p = synthetic.parameters(
        model={"hopping": {"1,0": -1.0, "0,1": -1.0, "1,1": 0.3}}, run={"walltime": "01:00:00"}
    )
    (tmp_path / "input.resolved.toml").write_text(p.to_toml())
    again = Parameters.read(tmp_path / "input.resolved.toml")
    assert again == p and again.fingerprint() == p.fingerprint() and again.run.walltime == 3600.0


def test_fingerprint_ignores_the_section_run():
    p = synthetic.parameters()
    same = p.replace(run={"threads": "os", "workers": 3, "walltime": 60})
    assert p.fingerprint() == same.fingerprint() and p.conflict(same) is None
    other = p.replace(solver={"seed": 2})
    assert p.fingerprint() != other.fingerprint() and p.conflict(other)[:3] == ("solver.seed", 1, 2)


def test_hopping_table_has_both_signs():
    square = synthetic.parameters(model={"t_prime": -0.3}).hopping()
    assert square[1, 0] == square[0, -1] == -1.0 and square[1, -1] == square[-1, -1] == 0.3 and len(square) == 8
    given = synthetic.parameters(model={"hopping": {"1,0": -1.0, "2,1": 0.1}}).hopping()
    assert given == {(1, 0): -1.0, (-1, 0): -1.0, (2, 1): 0.1, (-2, -1): 0.1}


def test_early_measurements_follow_the_late_ones():
    assert synthetic.parameters(solver={"measurements": 50_000}).solver.measurements_first == 2500
    assert synthetic.parameters(solver={"measurements": 100}).solver.measurements_first == 64
    assert synthetic.parameters(solver={"measurements": 10_000, "chains": 6400}).solver.measurements_first == 6400


def test_temperatures_with_two_particle_functions_can_have_more_measurements():
    p = synthetic.parameters(solver={"measurements": 10_000, "measurements_first": 2000},
                             two_particle={"channels": ["pp"], "below": 0.2, "measurements": 50_000})
    assert p.measurements(0.2) == (10_000, 50_000)
    assert p.measurements(0.21) == (2000, 10_000)
    assert p.replace(two_particle={"measurements": "auto"}).measurements(0.2) == (2000, 10_000)
    assert synthetic.parameters(two_particle={"omega_max": 8.0}).two_particle.frequencies == "auto"


def test_parameters_are_frozen_and_travel():
    p = synthetic.parameters()
    with pytest.raises(AttributeError):
        p.model = None
    with pytest.raises(AttributeError):
        p.model.U = 8.0
    assert pickle.loads(pickle.dumps(p)) == p


def test_docs_page_is_the_one_of_this_table():
    page = SCHEMA.markdown("Parameters of `plaq dca`")
    assert (ROOT / "docs/parameters.md").read_text() == page, (
        "run: plaq dca parameters --markdown > docs/parameters.md"
    )


def test_every_parameter_has_a_description():
    for parameter in TABLE:
        assert len(parameter.doc) > 5 and parameter.doc[-1] != "." and parameter.kind.allowed


def test_a_fingerprint_stays_so_that_old_runs_resume():
    """A key that is new must be unset by default: what is unset is not hashed."""
    p = Parameters(model={"U": 4, "hopping": {"1,0": -1, "0,1": -0.5, "1,1": 0.2}},
                   dca={"temperatures": [1], "mu": 2, "isolated": True})
    assert p.fingerprint().startswith("ef61b9bd41d1f52acf9e55520956129")
