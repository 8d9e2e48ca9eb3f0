"""Table of the parameters of ``plaq pic``, one line each."""

from __future__ import annotations

from plaq.inputs import running
from plaq.inputs.kinds import boolean, choice, integer, list_of, one_of, real, text
from plaq.inputs.schema import REQUIRED, Parameter, Schema
from plaq.pic.inputs.geometry import AXES as GEOMETRIES
from plaq.pic.inputs.kinds import constant, formula, outer_side, per_direction, sides, sides_at, table_file, three

PROGRAM = "plaq pic"
DIRECTIONS = "xyz"
FIELDS = ("periodic", "conducting", "absorbing")
PARTICLES = ("auto", "periodic", "absorbed", "reflected", "thermal")
PUSHERS = ("boris", "vay", "higuera_cary")
COMPONENTS = ("ex", "ey", "ez", "bx", "by", "bz", "jx", "jy", "jz", "rho", "phi", "er", "et", "br", "bt", "jr", "jt")
SIDES = (*(f"{d} {end}" for d in DIRECTIONS for end in ("low", "high")), "r high")
MEANS = ("density", "flux_x", "flux_y", "flux_z", "energy", "spectrum", "flux_r", "flux_t")  # of a species
AXES = (*DIRECTIONS, "ux", "uy", "uz", "energy", "r", "ur", "ut")
PATCH = {1: 64, 2: 16, 3: 8}  # default cells in a direction of a patch, about
LAYER = 8  # default cells of an absorbing side
COURANT = 0.95  # default step in units of the limit
QUIET_STEP = 0.1  # default step of an electrostatic solver, 1/ω_p

SECTIONS = {
    "units": "Units of the numbers of the input. Charges are in e, masses in m_e in either system, "
             "momenta are u = γβ.",
    "constants": "Names that formulas may use: numbers, and tables as functions, linear between their points and "
                 "constant outside.",
    "grid": "The box from 0 to `length`, its cells, and the patches that it is cut into. In a cylinder the directions "
            "are z and r, formulas are of z and r, and vectors have the components z, r, t (azimuth).",
    "boundaries": "Conditions at the sides of the box.",
    "time": "Duration and time step.",
    "solver": "Order of the particles' shape, arithmetic, random numbers.",
    "fields": "Electric and magnetic field at the beginning, formulas of x, y, z.",
    "external": "Fields from outside that particles feel in addition, formulas of x, y, z, t or from a file. No "
                "charge or conductor changes them, and they are not in the fields of results.",
    "species.*": "Particles of one kind. Profiles are formulas of x, y, z.",
    "emission.*": "Plates that emit particles of a species, anywhere in the box and at any angle: "
                  "a point in one dimension, a line in two, a square in three.",
    "conductor.*": "Conductors within the box, where a formula is not 0, each at one potential. They absorb particles, "
                   "but for walls with one layer of nodes.",
    "dielectric.*": "Dielectrics in an electrostatic run: cells where a formula is not 0. Particles that enter are "
                    "absorbed, and their charge stays on the surface.",
    "circuit.*": "Circuit from the ground to a side or conductor: a source, a resistor, a coil, a capacitor in a "
                 "row; or none, for an electrode that floats. Units: C_0 = ε_0 (c/ω_p)^(D-2) in D dimensions.",
    "laser.*": "Antennas: a plane across a direction whose current sends the same wave to both of its sides. "
               "Put it a cell or more before a side that absorbs one of them.",
    "window": "The box moves to higher x, cell by cell; formulas count x from where the box began. Probes and "
              "histograms count x from the low side of the box; their results and pictures have the window's position.",
    "collision.*": "Binary Coulomb collisions in every cell; units.density gives the number of real particles.",
    "gas.*": "Gases in the box. Profiles are formulas of x, y, z.",
    "scattering.*": "Particles of a species that are scattered by a gas, with cross sections of LXCat: elastic, "
                    "excitation, ionisation, attachment of electrons; isotropic and backward scattering of ions. "
                    "units.density gives the number of real atoms.",
    "reaction.*": "Reactions of particles of two species in every cell of an electrostatic run. Products that are no "
                  "species, such as atoms of a gas, are left out.",
    "merging.*": "Merging of macro-particles of a species in cells that have too many: packets of three or four with "
                 "close momenta become two particles with their weight, momentum and energy.",
    "splitting.*": "Splitting of heavy macro-particles of a species in cells that have too few, each into two of half "
                   "its weight.",
    "secondary.*": "Emission of particles by impacts of others on sides that absorb them, by chance, with the weight "
                   "of the one that arrived.",
    "ionisation.*": "Ionisation of particles by the electric field that they feel, with the rate of Ammosov, Delone "
                    "and Krainov; units.density gives the field in SI.",
    "output": "Files in the openPMD standard, and columns of the history.",
    "probe.*": "Field at a place or along a line in the direction of an axis, in time.",
    "histogram.*": "Distribution of a species over one or two of x, y, z, ux, uy, uz, energy: "
                   "phase space and spectra.",
    "mean.*": "Mean over windows of time, one after the other: of a species at the nodes, of a field in the cells, "
              "of the power J E, or of the energies in every cell of x.",
    "run": running.DOC,
}

_count = integer(1, 10**9)
_every = integer(0, 10**9)

TABLE = [
    Parameter("units", "system", choice("normalised", "SI"), "normalised", "",
              "normalised: to ω_p and c; SI: s, m, 1/m³, V/m, T, and temperatures in eV"),
    Parameter("units", "density", real("[1e-30, 1e60]"), None, "1/m³",
              "reference density n_0, which defines ω_p; SI needs it, and files then have SI units"),
    Parameter("constants", "*", constant(), None, "", "a number, or the points of a table"),
    Parameter("grid", "geometry", choice(*GEOMETRIES), "cartesian", "",
              "cylinder: two directions, z and r from the axis on"),
    Parameter("grid", "modes", integer(1, 16), 1, "",
              "azimuthal modes of a cylinder with Maxwell's equations, m = 0 to modes - 1; a laser needs m = 1"),
    Parameter("grid", "cells", per_direction(integer(4, 10**6)), REQUIRED, "",
              "in each direction; their number is the dimension"),
    Parameter("grid", "length", per_direction(real("(0, inf)")), REQUIRED, "c/ω_p", "of the box in each direction",
              ("size", "extent", "box", "lx")),
    Parameter("grid", "patches", one_of("auto", per_direction(integer(1, 10**5))), "auto", "",
              f"in each direction; auto: of about {PATCH[1]}, {PATCH[2]}², {PATCH[3]}³ cells in 1, 2, "
              "3 dimensions. Results depend on it, never on the ranks"),
    *(Parameter("boundaries", d, sides(*FIELDS), "periodic", "", f"of the fields in {d}") for d in DIRECTIONS),
    *(Parameter("boundaries", f"particles_{d}", sides(*PARTICLES), "auto", "",
                f"of particles in {d}; auto: periodic where the fields are, absorbed elsewhere") for d in DIRECTIONS),
    *(Parameter("boundaries", f"potential_{d}", sides_at(), (0.0, 0.0), "m_e c²/e",
                f"of conducting sides in {d}, of an electrostatic solver, a formula of t") for d in DIRECTIONS),
    Parameter("boundaries", "r", outer_side(choice("conducting"), "axis"), "conducting", "",
              "of the fields at the outer side of a cylinder"),
    Parameter("boundaries", "particles_r", outer_side(choice("auto", "absorbed", "reflected", "thermal"), "axis"),
              "auto", "", "of particles at the outer side of a cylinder; auto: absorbed"),
    Parameter("boundaries", "potential_r", outer_side(formula(), 0.0), 0.0, "m_e c²/e",
              "of the outer side of a cylinder, a formula of t"),
    Parameter("boundaries", "layer", integer(2, 1000), LAYER, "cells", "of a side that absorbs waves, inside the box"),
    Parameter("boundaries", "wall_temperature", real("[0, inf)"), 0.0, "m_e c²", "of thermal sides"),
    Parameter("time", "end", real("(0, inf)"), REQUIRED, "1/ω_p",
              "of the run; a finished run resumes with a later one",
              ("t_end", "tmax", "t_max", "duration", "steps", "nsteps", "max_step")),
    Parameter("time", "step", one_of("auto", real("(0, inf)")), "auto", "1/ω_p",
              f"auto: {COURANT} of the Courant limit, (Σ 1/Δ²)^(-1/2), with cowan's stencil the least Δ, with "
              "lehe's the lower one of Δx and (1/Δy² + 1/Δz²)^(-1/2); "
              f"of an electrostatic solver {QUIET_STEP} / ω_p",
              ("dt", "timestep", "time_step", "delta_t")),
    Parameter("solver", "order", integer(1, 3), 1, "", "of the particles' shape: 1 linear, 2 quadratic, 3 cubic"),
    Parameter("solver", "gather", choice("energy", "momentum"), "energy", "",
              "of E and B at particles: energy: from the points of Yee's mesh; momentum: from their means at the "
              "nodes, so that forces in a periodic electrostatic plasma add up to 0"),
    Parameter("solver", "precision", choice("double", "single"), "double", "", "of positions and momenta"),
    Parameter("solver", "seed", integer(0, 2**63 - 1), 1, "", "of all random numbers"),
    Parameter("fields", "solver", choice("electromagnetic", "electrostatic"), "electromagnetic", "",
              "Maxwell's equations on Yee's mesh, or E = -grad φ in every step and B constant"),
    Parameter("fields", "stencil", choice("yee", "cowan", "lehe"), "yee", "",
              "of curl E; cowan: smoothed across, so that light along the axes is as fast as light where the step "
              "is near its limit; lehe: light along x is not slower than in vacuum at any wavelength"),
    Parameter("fields", "of_moving", list_of(text(), longest=1000), (), "",
              "species whose field at t = 0 is that of charges that move with their mean momentum, along its largest "
              "component; of a species' file it is that of all its particles"),
    Parameter("fields", "filter_passes", integer(0, 100), 0, "",
              "of the binomial filter (1, 2, 1)/4 in each direction, of the current, or of the charge with an "
              "electrostatic solver"),
    Parameter("fields", "filter_compensation", boolean(), False, "",
              "whether a pass follows that keeps long waves to the order (k Δx)^4"),
    Parameter("fields", "e", three(formula()), (0.0, 0.0, 0.0), "m_e c ω_p/e",
              "E_x, E_y, E_z at t = 0, of an electromagnetic solver"),
    Parameter("fields", "b", three(formula()), (0.0, 0.0, 0.0), "m_e ω_p/e",
              "B_x, B_y, B_z at t = 0; of an electrostatic solver in every step"),
    Parameter("fields", "of_charges", boolean(), False, "",
              "whether E includes the field of the charges at t = 0, in a periodic box on a uniform background; "
              "if not, a static background cancels them; an electrostatic solver always includes it"),
    Parameter("external", "e", three(formula()), (0.0, 0.0, 0.0), "m_e c ω_p/e", "E_x, E_y, E_z"),
    Parameter("external", "b", three(formula()), (0.0, 0.0, 0.0), "m_e ω_p/e", "B_x, B_y, B_z"),
    Parameter("external", "file", text(), None, "",
              "meshes E and B of an openPMD file in HDF5, added to the formulas; the path is relative to the input"),
    Parameter("external", "factor", formula(), 1.0, "", "of the fields of the file, a formula of t"),
    Parameter("external", "checksum", text(), None, "", "SHA-256 of the file; unset: that of the file as it is"),
    Parameter("species.*", "charge", real(), REQUIRED, "e", "of one particle"),
    Parameter("species.*", "mass", real("(0, inf)"), REQUIRED, "m_e", "of one particle"),
    Parameter("species.*", "density", formula(), 0.0, "n_0",
              "at the beginning; 0: no particles",
              ("n", "n0", "number_density")),
    Parameter("species.*", "per_cell", integer(0, 10**7), 0, "", "macro-particles in a cell at the beginning",
              ("ppc", "nppc", "particles_per_cell", "npart_per_cell")),
    Parameter("species.*", "placed", choice("random", "even", "quiet"), "random", "",
              "in the cell, at the beginning; quiet: even, with momenta by Hammersley's points, almost without noise"),
    Parameter("species.*", "like", text(), None, "",
              "another species, whose particles have the same positions, so that there is no charge at first"),
    Parameter("species.*", "temperature", three(formula(), alone=True), (0.0, 0.0, 0.0), "m_e c²",
              "k_B T, along x, y and z or one for all",
              ("t", "temp", "uth", "vth")),
    Parameter("species.*", "drift", three(formula()), (0.0, 0.0, 0.0), "γβ",
              "mean momentum; of juttner: that of the frame at rest with the particles",
              ("velocity", "momentum", "u", "v", "mean_velocity")),
    Parameter("species.*", "distribution", choice("maxwell", "juttner"), "maxwell", "",
              "of momenta: normal ones of variance k_B T/m c², or relativistic ones"),
    Parameter("species.*", "momenta", formula(), None, "",
              "density of u in place of distribution, temperature and drift: a formula of ux, uy, uz, x, y, z with "
              "values from 0 to 1", ("dist_fn", "distribution_function")),
    Parameter("species.*", "momenta_low", three(real()), (0.0, 0.0, 0.0), "γβ", "least u_x, u_y, u_z of momenta"),
    Parameter("species.*", "momenta_high", three(real()), (0.0, 0.0, 0.0), "γβ", "largest u_x, u_y, u_z of momenta"),
    Parameter("species.*", "file", text(), None, "",
              "an openPMD file in HDF5 whose particles are there at the beginning, as well; the path is relative to "
              "the input"),
    Parameter("species.*", "file_species", text(), None, "", "name of the species in the file, if it has several"),
    Parameter("species.*", "checksum", text(), None, "", "SHA-256 of the file; unset: that of the file as it is"),
    Parameter("species.*", "moves", boolean(), True, "", "if not, its particles stay where they are, as a charge"),
    Parameter("species.*", "test", boolean(), False, "", "whether its particles feel fields and make none"),
    Parameter("species.*", "pusher", choice(*PUSHERS), "boris", "", "scheme that advances momenta"),
    Parameter("emission.*", "species", text(), REQUIRED, "", "that the plate emits"),
    Parameter("emission.*", "at", per_direction(real()), REQUIRED, "c/ω_p", "a point of the plate: its middle"),
    Parameter("emission.*", "normal", per_direction(real("[-1e6, 1e6]")), REQUIRED, "",
              "direction of emission, of any length"),
    Parameter("emission.*", "half_width", real("(0, inf)"), None, "c/ω_p",
              "of the line or square; unset in one dimension"),
    Parameter("emission.*", "flux", formula(), None, "n_0 c", "particles per area and time, a formula of t"),
    Parameter("emission.*", "space_charge_limited", boolean(), False, "",
              "instead of a flux: emits until the field at the plate vanishes; the plate is part of a conducting side"),
    Parameter("emission.*", "law", choice("richardson", "fowler_nordheim"), None, "",
              "instead of a flux: by temperature and field, or by a strong field, at a conducting side"),
    Parameter("emission.*", "work_function", real("(0, inf)"), None, "m_e c²", "of a law"),
    Parameter("emission.*", "enhancement", real("(0, inf)"), 1.0, "", "of the field at the plate, of a law"),
    Parameter("emission.*", "richardson_factor", real("(0, inf)"), 1.0, "", "of A = 4π e m_e k_B²/h³, of richardson"),
    Parameter("emission.*", "profile", formula(), 1.0, "",
              "factor of the emission across a line or square, a formula of x, y, z"),
    Parameter("emission.*", "per_cell", real("(0, 1e7]"), REQUIRED, "",
              "macro-particles in a cell at the density n_0, which sets their weight"),
    Parameter("emission.*", "temperature", real("[0, inf)"), 0.0, "m_e c²", "of the plate"),
    Parameter("emission.*", "drift", real("[0, inf)"), 0.0, "γβ", "along the normal, on top of it"),
    Parameter("conductor.*", "where", formula(), REQUIRED, "", "not 0 at its nodes, such as (x-2)^2 + (y-2)^2 < 1"),
    Parameter("conductor.*", "potential", formula(), 0.0, "m_e c²/e",
              "of an electrostatic solver, a formula of t"),
    Parameter("dielectric.*", "where", formula(), REQUIRED, "", "not 0 at the middle of its cells, such as x < 0.1"),
    Parameter("dielectric.*", "permittivity", real("(1, 1e6]"), REQUIRED, "", "relative to that of the vacuum",
              ("epsilon", "eps", "epsilon_r")),
    Parameter("circuit.*", "electrode", text(), REQUIRED, "", 'a conducting side, such as "x high", or a conductor'),
    Parameter("circuit.*", "floating", boolean(), False, "", "no current flows; the charge is that of the particles"),
    Parameter("circuit.*", "source", formula(), 0.0, "m_e c²/e", "voltage against the ground, a formula of t"),
    Parameter("circuit.*", "resistance", real("[0, inf)"), 0.0, "1/(ω_p C_0)", "Ω in SI"),
    Parameter("circuit.*", "inductance", real("[0, inf)"), 0.0, "1/(ω_p² C_0)", "H in SI"),
    Parameter("circuit.*", "capacitance", real("(0, inf)"), None, "C_0", "F in SI; unset: no capacitor"),
    Parameter("circuit.*", "area", real("(0, inf)"), 1.0, "",
              "of the electrode in one dimension, its depth in two Cartesian ones, in units of length"),
    Parameter("laser.*", "normal", choice(*DIRECTIONS), "x", "", "the direction across its plane"),
    Parameter("laser.*", "at", real("[0, inf)"), REQUIRED, "c/ω_p",
              "where the plane is in that direction, to the nearest node"),
    Parameter("laser.*", "wavelength", real("(0, inf)"), None, "c/ω_p", "in vacuum; required without a file",
              ("lambda", "lambda0", "lambda_0", "omega", "frequency")),
    Parameter("laser.*", "a0", real("(0, inf)"), None, "",
              "e E/(m_e c ω) at the peak, in the focus; required without a file",
              ("intensity", "amplitude", "a_0", "amp", "e0")),
    Parameter("laser.*", "envelope", formula(), None, "",
              "of E at the plane, a formula of t, 1 at the peak; required without a file"),
    Parameter("laser.*", "phase", real(), 0.0, "rad", "E ~ cos(ω t + phase)"),
    Parameter("laser.*", "angle", real(), 0.0, "rad",
              "of E, from the direction after the normal (y after x) to the next one"),
    Parameter("laser.*", "waist", real("(0, inf)"), None, "c/ω_p",
              "radius in the focus where E is 1/e; unset: a plane wave",
              ("w0", "w_0", "spot", "spot_size")),
    Parameter("laser.*", "focus", real(), 0.0, "c/ω_p",
              "distance from the plane to the focus; below 0 it lies behind"),
    Parameter("laser.*", "centre", one_of("auto", per_direction(real())), "auto", "c/ω_p",
              "a point of the beam's axis; auto: the middle of the box"),
    Parameter("laser.*", "direction", one_of("normal", per_direction(real("[-1e6, 1e6]"))), "normal", "",
              "of the beam, of any length, up to 80° from the normal; the envelope is that at the point where the "
              "beam's axis meets the plane"),
    Parameter("laser.*", "file", text(), None, "",
              "openPMD (HDF5) with a mesh laserEnvelope, as of lasy, in the plane; it needs units.density"),
    Parameter("laser.*", "checksum", text(), None, "", "SHA-256 of the file; unset: that of the file as it is"),
    Parameter("laser.*", "start", real(), 0.0, "1/ω_p", "when the plane sends the first values of the file"),
    Parameter("window", "speed", real("[0, 1]"), 0.0, "c", "0: it does not move"),
    Parameter("window", "start", real("[0, inf)"), 0.0, "1/ω_p", "when it begins to move"),
    Parameter("collision.*", "between", list_of(text(), length=2), REQUIRED, "", "two species, or one with itself"),
    Parameter("collision.*", "logarithm", real("(0, 100]"), 10.0, "", "Coulomb logarithm"),
    Parameter("collision.*", "every", _count, 1, "steps",
              "from one collision to the next, which takes the time of all"),
    Parameter("gas.*", "density", formula(), REQUIRED, "n_0", "of the atoms; they are not used up"),
    Parameter("gas.*", "temperature", formula(), 0.0, "m_e c²", "k_B T of the atoms"),
    Parameter("gas.*", "drift", three(formula()), (0.0, 0.0, 0.0), "γβ", "mean momentum of the atoms"),
    Parameter("gas.*", "mass", real("(0, inf)"), REQUIRED, "m_e", "of an atom"),
    Parameter("scattering.*", "species", text(), REQUIRED, "", "that is scattered"),
    Parameter("scattering.*", "gas", text(), REQUIRED, "", "that scatters it"),
    Parameter("scattering.*", "cross_sections", table_file(), REQUIRED, "",
              "a file as LXCat gives it, its path relative to the input, or the text of one"),
    Parameter("scattering.*", "target", text(), None, "", "of the file, if it has several"),
    Parameter("scattering.*", "electrons", text(), None, "", "species of new electrons, for IONIZATION"),
    Parameter("scattering.*", "ions", text(), None, "", "species of new ions, for IONIZATION"),
    Parameter("scattering.*", "negative_ions", text(), None, "", "species of new ions, for ATTACHMENT"),
    Parameter("scattering.*", "sharing", choice("equal", "random", "opal", "none"), "equal", "",
              "part of the energy left by an ionisation that the new electron gets: half, any, by Opal et al., 0"),
    Parameter("scattering.*", "opal_energy", real("(0, inf)"), None, "m_e c²",
              "w of opal, where the spectrum ~ 1/(1 + (E/w)²)"),
    Parameter("scattering.*", "law", choice("isotropic", "vahedi_surendra"), "isotropic", "",
              "of directions of electrons; ELASTIC and EFFECTIVE are cross sections of momentum transfer with either"),
    Parameter("reaction.*", "between", list_of(text(), length=2), REQUIRED, "", "two different species"),
    Parameter("reaction.*", "products", list_of(text(), longest=2), (), "",
              "species; one has the momentum of both, two part in any direction"),
    Parameter("reaction.*", "rate", formula(), None, "ω_p/n_0",
              "coefficient k of k n_1 n_2, a formula of energy, in the centre of mass, in the unit of temperatures"),
    Parameter("reaction.*", "cross_section", formula(), None, "ω_p/(n_0 c)", "instead of a rate: k = σ(energy) v"),
    Parameter("reaction.*", "released", real(), 0.0, "m_e c²",
              "kinetic energy that two products have more than the reactants; below 0 it is a threshold"),
    Parameter("merging.*", "species", text(), REQUIRED, "", "whose particles are merged"),
    Parameter("merging.*", "above", integer(4, 10**7), REQUIRED, "", "macro-particles in a cell; so many are left"),
    Parameter("merging.*", "every", _count, 1, "steps", "from one merging to the next"),
    Parameter("splitting.*", "species", text(), REQUIRED, "", "whose particles are split"),
    Parameter("splitting.*", "below", integer(2, 10**7), REQUIRED, "",
              "macro-particles in a cell that has some; up to so many are made"),
    Parameter("splitting.*", "per_cell", real("(0, 1e7]"), REQUIRED, "",
              "macro-particles in a cell at the density n_0, which sets the least weight after splitting"),
    Parameter("splitting.*", "every", _count, 1, "steps", "from one splitting to the next"),
    Parameter("secondary.*", "by", text(), REQUIRED, "", "the species that arrives"),
    Parameter("secondary.*", "emits", text(), REQUIRED, "", "the species that is emitted"),
    Parameter("secondary.*", "coefficient", formula(), REQUIRED, "",
              "mean number for each that arrives, a formula of its energy, in the unit of temperatures, and angle",
              ("yield", "gamma", "see")),
    Parameter("secondary.*", "at", list_of(choice(*SIDES), longest=6), (), "",
              "sides that emit; none: all that absorb particles"),
    Parameter("secondary.*", "temperature", real("[0, inf)"), 0.0, "m_e c²", "of those that are emitted"),
    Parameter("ionisation.*", "species", text(), REQUIRED, "", "that is ionised"),
    Parameter("ionisation.*", "ions", text(), REQUIRED, "", "species of what is left, with a charge higher by one"),
    Parameter("ionisation.*", "electrons", text(), REQUIRED, "", "species of the new electrons"),
    Parameter("ionisation.*", "potential", real("(0, inf)"), REQUIRED, "m_e c²", "energy that it takes"),
    Parameter("ionisation.*", "l", integer(0, 3), 0, "", "orbital quantum number of the electron, with m = 0"),
    Parameter("output", "every", _every, 0, "steps", "between two files; 0: none"),
    Parameter("output", "fields", one_of("auto", list_of(choice(*COMPONENTS), longest=len(COMPONENTS))), "auto", "",
              "that files have; auto: E, B and rho; phi of an electrostatic solver"),
    Parameter("output", "particles", list_of(text(), longest=1000), (), "",
              "species that files have; their particles have ids"),
    Parameter("output", "particles_every", integer(1, 10**9), 1, "particles",
              "of which one is in the files, with so many times its weight; the same particles in all files"),
    Parameter("output", "gauss", boolean(), True, "",
              "whether the residual of Gauss's law is computed in every step"),
    Parameter("output", "history", _count, 1, "steps",
              "between two rows of the history, whose counts are those of all these steps"),
    Parameter("output", "pictures", integer(0, 100), 4, "",
              "of fields and densities in the report, over the time of the run; six and more are an animation"),
    Parameter("probe.*", "field", choice(*COMPONENTS), REQUIRED, "",
              "that is recorded; phi of an electrostatic solver"),
    Parameter("probe.*", "at", per_direction(real()), REQUIRED, "c/ω_p", "the place; the value of the nearest cell"),
    Parameter("probe.*", "along", choice(*DIRECTIONS, "r"), None, "",
              "records a line through that place in this direction; the report has ω(k) of a periodic line"),
    Parameter("probe.*", "every", _count, 1, "steps", "between two values"),
    Parameter("histogram.*", "species", text(), REQUIRED, "", "species whose particles are counted, by weight"),
    Parameter("histogram.*", "axes", list_of(choice(*AXES), shortest=1, longest=2), REQUIRED, "",
              "energy is (γ - 1) m c²"),
    Parameter("histogram.*", "low", list_of(real(), shortest=1, longest=2), REQUIRED, "",
              "of the first bin, for each axis"),
    Parameter("histogram.*", "high", list_of(real(), shortest=1, longest=2), REQUIRED, "",
              "of the last bin, for each axis"),
    Parameter("histogram.*", "bins", list_of(integer(1, 4096), shortest=1, longest=2), REQUIRED, "", "for each axis"),
    Parameter("histogram.*", "every", _count, REQUIRED, "steps", "between two of them"),
    Parameter("mean.*", "quantity", choice(*MEANS, "power", *COMPONENTS), REQUIRED, "",
              "number, flux, kinetic energy of a species per volume, at the nodes; its energies by cells of x; "
              "J E; a field"),
    Parameter("mean.*", "species", text(), None, "", f"of {', '.join(MEANS)}"),
    Parameter("mean.*", "start", real("[0, inf)"), 0.0, "1/ω_p", "of the first window"),
    Parameter("mean.*", "length", real("(0, inf)"), REQUIRED, "1/ω_p", "of a window, such as a period"),
    Parameter("mean.*", "every", _count, 1, "steps", "between two samples"),
    Parameter("mean.*", "bins", integer(1, 4096), None, "", "of energy, of a spectrum"),
    Parameter("mean.*", "high", real("(0, inf)"), None, "m_e c²", "energy of the last bin of a spectrum"),
    *running.rows([
        Parameter("run", "balance_every", _every, 100, "steps",
                  "after which patches may move between ranks; 0: never"),
        Parameter("run", "balance_by", choice("hilbert_refine", "hilbert_cut", "greedy_refine", "diffusion", "none"),
                  "hilbert_refine", "", "the balancer, see the page on collections; none: patches stay, their loads "
                  "are recorded"),
        Parameter("run", "record_loads", boolean(), False, "",
                  "write the load of every patch at each balancing, for plaq balance, to loads_STEP.jsonl, "
                  "STEP being that of the start or resumption"),
    ]),
]

SCHEMA = Schema(SECTIONS, TABLE)
