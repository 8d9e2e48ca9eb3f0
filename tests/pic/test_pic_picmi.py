"""Decks of the PICMI standard: the same physics as plaq's own input, refusals by name."""

import math

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

pytest.importorskip("picmistandard")
from plaq.pic import picmi  # noqa: E402

C, E, ME = picmi.constants.c, picmi.constants.q_e, picmi.constants.m_e


def langmuir(tmp_path, **solver):
    """A deck of a Langmuir wave along z."""
    n0, length = 1e24, 2e-5
    grid = picmi.Cartesian1DGrid(nx=64, xmin=-length / 2, xmax=length / 2, bc_xmin="periodic", bc_xmax="periodic",
                                 bc_xmin_particles="periodic", bc_xmax_particles="periodic")
    wave = picmi.AnalyticDistribution(density_expression="n0*(1 + a*cos(k*z))", n0=n0, a=0.01, k=2 * math.pi / length,
                                      warpx_momentum_spread=0)
    electrons = picmi.Species(particle_type="electron", name="electrons", initial_distribution=wave)
    ions = picmi.Species(particle_type="proton", name="ions",
                         initial_distribution=picmi.UniformDistribution(density=n0))
    simulation = picmi.Simulation(
        solver=picmi.ElectromagneticSolver(grid=grid, method="Yee", cfl=0.9, **solver), max_steps=1200, verbose=1,
        particle_shape="quadratic", plaq_folder=str(tmp_path / "run"), plaq_density=n0, warpx_use_filter=False)
    layout = picmi.GriddedLayout(grid=grid, n_macroparticle_per_cell=[8])
    simulation.add_species(electrons, layout=layout, initialize_self_field=True)
    simulation.add_species(ions, layout=layout)
    simulation.add_diagnostic(picmi.FieldDiagnostic(grid=grid, period=300, data_list=["Ez", "rho"]))
    return simulation, n0


def test_a_deck_runs_with_the_frequency_of_its_plasma(tmp_path):
    simulation, n0 = langmuir(tmp_path)
    simulation.step(300)
    results = simulation.step(900)
    assert pic.Series(tmp_path / "run").steps == [0, 300, 600, 900, 1200]
    energy = results["electric_x"].values  # E_z of the deck; its energy has twice the frequency
    middle = energy - energy.max() / 2
    at = np.flatnonzero(middle[1:] * middle[:-1] < 0)
    zeros = results.time[at] + (results.time[1] - results.time[0]) * middle[at] / (middle[at] - middle[at + 1])
    assert math.pi / (2 * np.diff(zeros).mean()) == pytest.approx(math.sqrt(1 + 1 / 1836.15), rel=5e-3)
    simulation.write_input_file(str(tmp_path / "input.toml"))
    assert pic.Parameters.read(tmp_path / "input.toml") == simulation.parameters()


def test_a_laser_a_bunch_and_fields_are_turned_to_the_axes_of_plaq(tmp_path):
    """Of a deck in x and z: z becomes x and x becomes y, positions count from the lower bounds."""
    grid = picmi.Cartesian2DGrid(number_of_cells=[32, 128], lower_bound=[-8e-6, -5e-6], upper_bound=[8e-6, 15e-6],
                                 lower_boundary_conditions=["periodic", "open"], pml_cells=[8, 8],
                                 upper_boundary_conditions=["periodic", "open"], moving_window_velocity=[0, C],
                                 lower_boundary_conditions_particles=["periodic", "absorbing"],
                                 upper_boundary_conditions_particles=["periodic", "absorbing"])
    smoother = picmi.BinomialSmoother(n_pass=[2, 2], compensation=[True, True])
    solver = picmi.ElectromagneticSolver(grid=grid, method="Lehe", cfl=0.98, source_smoother=smoother)
    simulation = picmi.Simulation(solver=solver, max_time=2e-14, particle_shape="cubic",
                                  plaq_folder=str(tmp_path / "run"))
    bunch = picmi.GaussianBunchDistribution(n_physical_particles=1e6, rms_bunch_size=[1e-6, 0, 2e-6],
                                            centroid_position=[1e-6, 0, 3e-6], centroid_velocity=[0, 0, 10 * C],
                                            rms_velocity=[0.1 * C, 0, 0])
    simulation.add_species(picmi.Species(particle_type="electron", name="beam", method="Vay",
                                         initial_distribution=bunch), picmi.PseudoRandomLayout(n_macroparticles=4000))
    slab = picmi.UniformDistribution(density=1e24, lower_bound=[None, None, 0], upper_bound=[None, None, 9e-6],
                                     rms_velocity=[0.01 * C, 0, 0], fill_in=True)
    simulation.add_species(picmi.Species(name="he", charge=E, mass=7294.3 * ME, initial_distribution=slab),
                           picmi.PseudoRandomLayout(n_macroparticles_per_cell=2))
    simulation.add_laser(
        picmi.GaussianLaser(wavelength=1e-6, waist=3e-6, duration=10e-15, propagation_direction=[0, 0, 1],
                            polarization_direction=[0, 1, 0], focal_position=[0, 0, 8e-6],
                            centroid_position=[0.5e-6, 0, -6e-6], a0=1.5),
        picmi.LaserAntenna(position=[0, 0, -3e-6], normal_vector=[0, 0, 1]))
    simulation.add_applied_field(picmi.ConstantAppliedField(Bz=3.0))
    simulation.add_applied_field(picmi.AnalyticAppliedField(Ex_expression="g*z*cos(w*t)", g=1e9, w=1e15))
    simulation.add_diagnostic(picmi.ParticleDiagnostic(period=10))
    p = simulation.parameters()
    assert p.grid.cells == (128, 32) and p.grid.length == pytest.approx((20e-6, 16e-6))
    assert p.boundaries.x == ("absorbing", "absorbing") and p.boundaries.y == ("periodic", "periodic")
    assert p.window.speed == pytest.approx(1) and p.fields.filter_passes == 2 and p.fields.filter_compensation
    assert p.fields.stencil == "lehe" and p.solver.order == 3 and p.output.particles == ("beam", "he")
    laser = p.laser["laser1"]
    assert (laser.at, laser.focus, laser.angle) == pytest.approx((2e-6, 11e-6, math.pi / 2))
    assert laser.centre == pytest.approx((-1e-6, 8.5e-6)) and laser.a0 == 1.5
    assert p.external.b == ("(3.0)", 0.0, 0.0) and p.external.e[1].startswith("((1000000000.0)*(x + (-5e-06))*cos(")
    assert p.species["beam"].pusher == "vay" and p.species["he"].temperature[1] == pytest.approx(7294.3 * 51.1, 1e-3)
    simulation.step(1)
    beam = pic.Series(tmp_path / "run").particles("beam", 0)
    length = pic.Units("SI", 1e24).in_si("length")
    assert beam["x"].mean(axis=0) * length == pytest.approx([8e-6, 9e-6], abs=1.5e-7)
    assert beam["u"][:, 0] == pytest.approx(10, abs=0.01) and beam["u"][:, 1].std() == pytest.approx(0.1, rel=0.1)
    assert len(beam["w"]) == 4000


@pytest.mark.parametrize("deck, message", [
    (lambda: picmi.CylindricalGrid, "picmi.CylindricalGrid: plaq has no such class"),
    (lambda: picmi.FoilDistribution, "picmi.FoilDistribution: plaq has no such class"),
    (lambda: {"method": "PSATD"}, "picmi.ElectromagneticSolver(method='PSATD'): plaq has Yee, CKC, Lehe"),
    (lambda: {"divE_cleaning": True}, "picmi.ElectromagneticSolver(divE_cleaning=True): plaq has no such argument"),
    (lambda: {"source_smoother": picmi.BinomialSmoother(n_pass=[1], stride=[2])},
     "picmi.BinomialSmoother(stride=[2]): plaq has no such argument"),
])
def test_what_plaq_has_not_is_refused_by_name(tmp_path, deck, message):
    with pytest.raises(InputError) as error:
        given = deck()
        simulation, _ = langmuir(tmp_path, **{key: value for key, value in given.items() if key != "method"})
        if "method" in given:
            simulation.solver.method = given["method"]
        simulation.parameters()
    assert message in str(error.value) and "\n" not in str(error.value)
