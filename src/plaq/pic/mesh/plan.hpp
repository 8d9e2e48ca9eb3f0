// Plan of a run: mesh, time step, species, conditions at the sides of the box.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plaq/pic/mesh/external_plan.hpp"
#include "plaq/pic/mesh/field_ionisation.hpp"
#include "plaq/pic/mesh/gas_plan.hpp"

namespace plaq::pic {

/// Scheme that advances momenta: Boris (1970), Vay (2008), Higuera and Cary (2017).
enum class pusher { boris, vay, higuera_cary };
/// Condition for fields at a side of the box. Absorbing: a layer of cells before a conductor (see absorbing.hpp). Axis:
/// the side r = 0 of a cylinder.
enum class field_boundary { periodic, conducting, absorbing, axis };
/// Condition for particles at a side of the box. Thermal: a particle that arrives returns with a momentum of the wall's
/// temperature.
enum class particle_boundary { periodic, absorbed, reflected, thermal, axis };

/// Stencil of curl E: Yee (1966), or differences smoothed across their direction, so that waves along the axes move
/// with c at the step dx: Cole (1997), Karkkainen (2006), Cowan et al., Phys. Rev. ST Accel. Beams 16 (2013) 041303; or
/// differences in x over one and three cells, so that waves along x are not slower than c at any wave number: Lehe et
/// al., Phys. Rev. ST Accel. Beams 16 (2013) 021301.
enum class stencil { yee, cowan, lehe };

/// Returns the enumerator of a name. Throws input_error that lists the names.
pusher parse_pusher(const std::string& name);
field_boundary parse_field_boundary(const std::string& name);
particle_boundary parse_particle_boundary(const std::string& name);
stencil parse_stencil(const std::string& name);

/// Particles of one charge and mass.
struct species {
  std::string name;
  double charge = -1, mass = 1;  ///< of a particle of weight 1, in e and m_e
  pusher scheme = pusher::boris;
  bool tracked = false;  ///< its particles have ids
  bool moves = true;     ///< if not, neither fields nor currents concern its particles
  bool test = false;     ///< its particles make no fields

  /// Charge that makes fields, of a particle of weight 1.
  double source() const { return test ? 0 : charge; }
};

/// Law of the flux of a plate: given, or by the field at it: heat (Richardson), or strong fields (Fowler, Nordheim).
enum class emission_law { given, richardson, fowler_nordheim };
/// Returns the enumerator of a name. Throws input_error that lists the names.
emission_law parse_emission_law(const std::string& name);

/// Plate at rest that emits particles of a species: its centre and normal in the dimensions that are used; a line in
/// two dimensions, a square in three.
struct emitter {
  int species_index = 0;
  std::array<double, 3> centre{}, normal{1, 0, 0};
  double half_width = 0;
  std::vector<double> cumulative_flux = {};  ///< weight per area and time, summed over the steps before 0, 1, ...
  /// Emits, instead of a flux, as many particles as leave no charge on the plate, which is part of a side of the box.
  bool space_charge_limited = false;
  double weight = 1;                  ///< of each particle
  double temperature = 0, drift = 0;  ///< in m_e c^2; of u, along the normal
  emission_law law = emission_law::given;
  double work = 0;                  ///< work function, in m_e c^2
  double enhancement = 1;           ///< of the field, by roughness
  double factor = 0, exponent = 0;  ///< see emission_laws.hpp
  /// Factor of the flux, [second][first] direction of the plate, linear between points evenly from -half_width to
  /// half_width, as many in each direction; or empty.
  std::vector<double> profile = {};

  /// Returns whether the emission depends on the field, so that the plate is part of a conducting side.
  bool follows_field() const { return space_charge_limited || law != emission_law::given; }
  /// Sets the weight per area and time of each step; the last one stays. Throws input_error for a value that is
  /// negative or not finite.
  void set_flux(const std::vector<double>& flux_per_step);
  /// Weight that an area of 1 has emitted before a step, with steps of length 1.
  double flux_until(std::int64_t step) const;
};

/// Antenna of a laser: a sheet of current across a dimension, in a plane of nodes, that sends the same wave to both
/// of its sides, or one and its mirror image where the direction is oblique. On the plane E is E_0 f(t - s)
/// Re[A(r) exp(-i (omega t + phase))], A that of a Gaussian beam before or behind its focus, s the way along the
/// direction from the point where the beam's axis meets the plane. Or the pulse is that of a map: E is
/// E_0 Re[P(a, b, t) exp(-i (omega t + phase))], with a and b from the axis, in the two directions after the normal.
struct antenna {
  static constexpr double least_cosine = 0.1736;  ///< of direction and normal: 80 degrees
  int normal = 0;                                 ///< dimension across the plane
  double position = 0;                            ///< of the plane, in that dimension
  double omega = 1, phase = 0;
  double field = 0;                   ///< E_0, in the focus
  double angle = 0;                   ///< of E, from the dimension after the normal to the next one
  double waist = 0;                   ///< radius where |A| = 1/e, in the focus; 0: a plane wave
  double focus = 0;                   ///< from the plane to the focus, along the normal; below 0 it lies behind
  std::array<double, 3> centre{};     ///< of the beam
  std::vector<double> envelope = {};  ///< f in the middle of each step; 0 after the last
  std::array<double, 3> direction{};  ///< of the beam, of length 1; 0: along the normal
  std::int64_t envelope_before = 0;   ///< steps before the first one that the envelope begins with
  /// Real and imaginary part of P, with the coordinates a, b, t, or r, 0, t of a round pulse; empty: a beam.
  std::array<field_map, 2> pulse{};
  bool round = false;

  bool oblique() const { return direction != std::array<double, 3>{}; }
};

/// Edge between a node outside of all conductors and a node of a conductor, whose surface cuts it.
struct cut_edge {
  std::int64_t node;  ///< the one outside
  int direction;      ///< 2 d where the other one is the lower one in dimension d, 2 d + 1 where it is the upper one
  double part;        ///< of the edge outside of the conductor
  /// Cuts are in the order of their keys.
  std::pair<std::int64_t, int> key() const { return {node, direction}; }
};

/// Nodes of the box, x fastest, in rising order, that are all at one potential. Cells with no other nodes are solid
/// and absorb the particles that enter them.
struct conductor {
  static constexpr double least_part = 1e-3;  ///< of a cut edge
  std::vector<std::int64_t> nodes;
  double potential = 0;
  /// In rising order of the keys. Where an edge is not here, the surface passes through the node of the conductor.
  std::vector<cut_edge> cuts = {};
};

/// Circuit from the ground to an electrode, whose potential in plan::electrode_potentials is then the voltage of the
/// source: a resistor, a coil and a capacitor in a row. Or none, where the electrode floats.
struct circuit {
  std::string name;
  int electrode = 0;  ///< its place in plan::electrode_potentials
  bool floating = false;
  double resistance = 0, inductance = 0;
  double capacitance = 0;  ///< 0: no capacitor
};

/// Two species, or one with itself, with binary Coulomb collisions.
struct collision_pair {
  int first = 0, second = 0;
  double logarithm = 10;  ///< Coulomb logarithm
  int every = 1;          ///< steps from one collision to the next, which takes the time of all of them
};

/// Reaction of a particle of one species with one of another, to at most two particles.
struct reaction {
  std::string name;
  int first = 0, second = 0;  ///< species, not the same
  std::vector<int> products;
  double released = 0;  ///< kinetic energy that two products have more, in m_e c^2
  /// Table of the rate coefficient in omega_p / n_0 by the kinetic energy in the centre of mass, in m_e c^2, rising;
  /// linear between its entries, beyond them as at its ends.
  std::vector<double> energy, rate;

  double rate_at(double at) const;
};

/// Merging of the particles of a species in cells with more than `count`, or splitting in cells with fewer.
struct resampling {
  std::string name;
  int species = 0;
  bool splits = false;
  int count = 0;
  int every = 1;            ///< steps from one time to the next
  double least_weight = 0;  ///< of particles after splitting
};

/// Emission of particles by impacts of others on sides of the box that absorb them.
struct secondary_emission {
  static constexpr double most = 50;  ///< particles of an impact, in the mean
  int projectiles = 0, emitted = 0;   ///< species
  std::array<std::array<bool, 2>, 3> at{};
  double temperature = 0;  ///< of the flux, in m_e c^2
  /// Table of the mean number of an impact, [energy][cosine of the angle to the normal], linear between its entries:
  /// energies in m_e c^2, rising; cosines evenly from 0 to 1.
  std::vector<double> energy, number;
  std::size_t cosines = 2;
};

/// Window that moves to higher x with this speed from a time on, cell by cell.
struct moving_window {
  double speed = 0, start = 0;
  bool enabled() const { return speed > 0; }
};

/// Plan of a run. Units: c = epsilon_0 = 1, times in 1/omega_p, lengths in c/omega_p, fields in m_e c omega_p / e,
/// momenta per mass.
struct plan {
  int dimensions = 1;
  /// Whether the two dimensions are z and r of a cylinder. Vectors have the components z, r, theta; cells and particles
  /// are whole rings, or with more than the mode m = 0 of the azimuth theta, points.
  bool cylinder = false;
  int modes = 1;                                        ///< m = 0 ... modes - 1
  std::array<int, 3> cells{1, 1, 1}, patches{1, 1, 1};  ///< one in dimensions that are not used
  std::array<double, 3> lengths{1, 1, 1};               ///< of the box, which begins at 0
  double dt = 0;
  int order = 1;  ///< of the particles' shape: 1, 2, 3
  std::uint64_t seed = 1;
  std::array<std::array<field_boundary, 2>, 3> field_boundaries{};  ///< low and high side of each dimension
  std::array<std::array<particle_boundary, 2>, 3> particle_boundaries{};
  int layer = 8;                ///< cells of an absorbing layer
  double wall_temperature = 0;  ///< in m_e c^2, of thermal walls
  std::vector<species> species_list;
  std::vector<emitter> emitters;
  /// Whether E = -grad phi in each step, with these potentials of the conducting sides, in m_e c^2 / e, and B constant.
  /// Potentials of sides and conductors are those at the start; plasma::advance may take others.
  bool electrostatic = false;
  std::array<std::array<double, 2>, 3> potentials{};
  stencil curl = stencil::yee;
  std::vector<antenna> antennas;
  std::vector<conductor> conductors;
  /// Relative permittivity of each cell of an electrostatic plan, x fastest; empty: 1. Cells above 1 are solid and keep
  /// the charge of the particles that they absorb on their surface.
  std::vector<double> permittivity;
  std::vector<circuit> circuits;
  std::vector<collision_pair> collision_pairs;
  /// omega_p r_e / c and n_0^(1/3) c / omega_p, which collisions depend on beside normalised numbers.
  double coupling = 0, density_scale = 0;
  std::vector<gas_scattering> scatterings;
  std::vector<reaction> reactions;
  std::vector<resampling> resamplings;
  std::vector<secondary_emission> secondaries;
  std::vector<field_ionisation> field_ionisations;
  moving_window window;
  external_plan external;
  int filter_passes = 0;             ///< of the binomial filter of J and rho
  bool filter_compensation = false;  ///< whether a pass of compensation follows
  /// Whether particles gather means of E and B at the nodes, so that the forces of charges on each other add up to 0.
  bool at_nodes = false;

  double spacing(int d) const { return lengths[d] / cells[d]; }
  double cell_volume() const;
  /// Largest stable time step of the field solver: 1 / sqrt(sum 1/dx^2); with Cowan's stencil the least dx, with
  /// Lehe's dx and 1 / sqrt(1/dy^2 + 1/dz^2), the lower one; in a cylinder 1 / sqrt(1/dz^2 + radial_factor/dr^2).
  double courant() const;
  /// Largest eigenvalue of curl curl in r of all modes, with the node on the axis, over that of a plane mesh, 4/dr^2;
  /// by computation.
  static constexpr double radial_factor(int modes) {
    return modes == 1 ? 1.2106 : modes == 2 ? 1.5914 : (modes - 1) * (modes - 1) + 0.5235;
  }
  /// Guard cells around a patch: as many as a particle that ends in the next cell reaches, and one more where a path
  /// that begins there, after a wall, deposits current too; Lehe's differences reach one cell farther than others.
  int guard() const {
    return std::max((order == 1 ? 2 : 3) + (dimensions > 1 && bounded()), curl == stencil::lehe ? 3 + (order > 1) : 0);
  }
  bool periodic(int d) const { return field_boundaries[d][0] == field_boundary::periodic; }
  /// Whether the box ends at a wall there: its side is neither periodic nor the axis of a cylinder.
  bool wall(int d, int side) const { return !periodic(d) && field_boundaries[d][side] != field_boundary::axis; }
  /// Name of a dimension: x, y, z, or z, r of a cylinder.
  std::string_view axis_name(int d) const;
  /// Nodes of the box in a dimension, including that of a high side that is not periodic.
  int nodes(int d) const { return cells[d] + (d < dimensions && !periodic(d)); }
  /// Cells that the window has moved by when a step begins.
  std::int64_t window_shift(std::int64_t step) const;
  /// Potentials of the sides x low, x high, y low, ... and of the conductors.
  std::vector<double> electrode_potentials() const;
  bool bounded() const { return !(periodic(0) && periodic(1) && periodic(2)); }

  /// Throws input_error that names the key, its value and what is allowed.
  void check() const;
  /// Computes what follows from other members: the bounds of the rates of scattering.
  void complete();
};

/// Side of the box: dimension d, low (0) or high (1); `side` is -1 where there is none.
struct box_side {
  int d = 0, side = -1;
};
/// Returns the side of the box that a plate lies on with its normal into the box.
box_side side_of(const plan& p, const emitter& e);

}  // namespace plaq::pic
