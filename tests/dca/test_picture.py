"""Pictures of models: what is drawn where, and the command that writes them."""

import numpy as np
import pytest
import synthetic
from command_line import run_plaq
from lattices import CHAIN, CUBIC, DIAMOND, HONEYCOMB, KAGOME, SSH, STAGGERED, T_PRIME, orbital_lattice, square_vectors

from plaq.cli.picture import demand_file
from plaq.data.figures import drawn
from plaq.dca.application import Dca
from plaq.dca.cli import app
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.picture import drawing
from plaq.dca.lattice.picture_zone import cartesian
from plaq.dca.planning.forecast import describe
from plaq.errors import InputError, RunError
from plaq.pic.cli import app as pic

INPUT = """[model]
lattice = "{lattice}"
U = 4.0
cluster = {cluster}
[dca]
temperatures = [0.2]
mu = 1.0
isolated = true
[solver]
kind = "ed"
[two_particle]
channels = []
"""


@pytest.mark.parametrize("lattice", [T_PRIME, *map(orbital_lattice, (KAGOME, STAGGERED, SSH, CUBIC, DIAMOND))],
                         ids=["square", "kagome", "staggered", "dimerised chain", "cubic", "diamond"])
def test_cells_zone_and_bands(lattice):
    cluster = Cluster(lattice, square_vectors(lattice))
    left, middle, right = drawn(drawing(cluster, 0.4, "t").draw).axes
    assert left.get_title("left") + left.get_title() == f"{cluster.size} {'sites' if lattice.bands == 1 else 'cells'}"
    bands = [line for line in right.lines if len(line.get_xdata()) > 100]
    assert len(bands) == lattice.bands  # those of up and down of a staggered field are equal
    ends = np.array([(line.get_ydata().min(), line.get_ydata().max()) for line in bands])
    assert ends.min() >= lattice.extrema[0] - 1e-9 and ends.max() <= lattice.extrema[1] + 1e-9
    assert [label.get_text() for label in right.get_xticklabels()][0] == "Γ"
    assert any(np.allclose(line.get_ydata(), 0.4) for line in right.lines)
    assert len(middle.lines) > cluster.size


def test_a_density_of_states_in_place_of_bands():
    p = synthetic.parameters(model={"cluster": [[1, 0], [0, 1]], "density_of_states": "bethe"},
                             dca={"density": None, "mu": 1.5}, two_particle={"channels": []})
    picture = Dca(p).drawing()
    assert picture.title == "Density of states"
    (axes,) = drawn(picture.draw).axes
    x, y = axes.lines[0].get_data()
    assert (x[0], x[-1]) == (-2, 2) and np.trapezoid(y, x) == pytest.approx(1, abs=1e-3)
    assert y.max() == pytest.approx(1 / np.pi)  # 2/(π D) at its middle


@pytest.mark.parametrize("table, a, expected", [
    (HONEYCOMB, [1, 0], [1.0, -3**-0.5]), (HONEYCOMB, [1, 1], [1.0, 3**-0.5]), (CHAIN, [1], [1.0])])
def test_momenta_are_drawn_where_they_are(table, a, expected):
    """k.a_1 = k.(1, 0) and k.a_2 = k.(1/2, √3/2): k_x = k.a_1, k_y = (2 k.a_2 - k.a_1)/√3."""
    assert np.allclose(cartesian(orbital_lattice(table), np.pi * np.array(a)), expected)


@pytest.mark.parametrize("lattice, cluster, words", [
    ("kagome", [[1, 0], [0, 1]], ["1 cell,", "A at (0,0), B at (0.5,0)", "Γ -4 2 2", "K -1 -1 2", "C6v, 12 of the 12"]),
    ("cubic", [[1, 0, 0], [0, 1, 0], [0, 0, 2]], ["2 sites", "(0,0,1)", "(0,0,π)", "D4h, 16 of the 48", "R 6"]),
    ("chain", [[3]], ["Ci", "X 2", "(2π/3)"])])
def test_a_model_in_words(lattice, cluster, words):
    p = synthetic.parameters(model={"lattice": lattice, "cluster": cluster},
                             dca={"density": None, "mu": 1.0, "isolated": True},
                             solver={"kind": "ed"}, two_particle={"channels": [], "transfers": [[0] * len(cluster)]})
    text = describe(p)
    assert all(word in text for word in words), text
    assert Dca(p).drawing().title == "Cluster, momenta and bands"


def test_the_command_writes_a_picture_or_a_page(tmp_path):
    file = tmp_path / "input.toml"
    file.write_text(INPUT.format(lattice="honeycomb", cluster=[[1, 0], [0, 1]]))
    done = run_plaq("check", file, "--picture", tmp_path / "a.png")
    assert done.returncode == 0 and "C6v" in done.stdout and str(tmp_path / "a.png") in done.stdout, done.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    file.write_text(file.read_text() + '[sweep]\n"model.U" = [2.0, 4.0]\n')
    for name, words in (("b.gif", "does not end in .png or .html"), ("b.png", "one run, and the input has 2")):
        with pytest.raises(InputError, match=words):
            app.check(file, None, tmp_path / name)
    app.check(file, None, tmp_path / "b.html")
    assert (tmp_path / "b.html").read_text().count("<figure") == 2
    with pytest.raises(RunError, match="cannot be written"):
        app.check(file, None, tmp_path / "none" / "b.html")
    with pytest.raises(InputError, match="plaq pic has no pictures"):
        demand_file(tmp_path / "c.png", "pic", 1, pic.pictured)
