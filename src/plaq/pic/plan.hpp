// What the input fixes: mesh, time step, species, and what is at each side of the box.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plaq::pic {

/// How momenta are advanced: Boris (1970), Vay (2008), Higuera and Cary (2017).
enum class pusher { boris, vay, higuera_cary };
/// What fields meet at a side of the box. Absorbing: a layer of cells before a conductor (see absorbing.hpp).
enum class border { periodic, conducting, absorbing };
/// What particles meet there. Thermal: one that arrives goes back with a momentum of the wall's temperature.
enum class wall { periodic, absorbed, reflected, thermal };

/// How curl E is taken: Yee (1966), or with differences that are smoothed across their direction, so that waves
/// along the axes move with c at the step dx: Cole (1997), Karkkainen (2006), Cowan et al., Phys. Rev. ST Accel.
/// Beams 16 (2013) 041303.
enum class stencil { yee, cowan };

/// Throws input_error that lists the names.
pusher pusher_named(const std::string& name);
border border_named(const std::string& name);
wall wall_named(const std::string& name);
stencil stencil_named(const std::string& name);

struct species {
  std::string name;
  double charge = -1, mass = 1;  ///< of a particle of weight 1, in e and m_e
  pusher by = pusher::boris;
  bool tracked = false;  ///< its particles have ids
};

/// A plate that gives off particles of a species, one that holds still: a point of it and its normal, in the
/// dimensions that are used; a line in two dimensions, a square in three.
struct emitter {
  int kind = 0;  ///< the species
  std::array<double, 3> at{}, normal{1, 0, 0};
  double half_width = 0;
  std::vector<double> given = {};  ///< weight per area and time, summed over the steps before 0, 1, ...; see set_flux
  /// Instead of a flux: as many as it takes to leave no charge on the plate, which is part of a side of the box.
  bool space_charge_limited = false;
  double weight = 1;                  ///< of each
  double temperature = 0, drift = 0;  ///< in m_e c^2; of u, along the normal

  /// Weight per area and time in each step; the last one stays. Throws input_error for what is negative or no number.
  void set_flux(const std::vector<double>& of_steps);
  /// Of area 1, in all steps before this one, with steps of length 1.
  double given_until(std::int64_t step) const;
};

/// A laser's antenna: a sheet of current across a dimension, in a plane of nodes, that sends the same wave to both
/// of its sides. E = E_0 f(t) Re[A(r) exp(-i (omega t + phase))] on the plane, A that of a Gaussian beam before or
/// behind its focus.
struct antenna {
  int normal = 0;  ///< the dimension
  double at = 0;   ///< in it
  double omega = 1, phase = 0;
  double field = 0;                   ///< E_0, in the focus
  double angle = 0;                   ///< of E, from the dimension after the normal to the next one
  double waist = 0;                   ///< radius where |A| = 1/e, in the focus; 0: a plane wave
  double focus = 0;                   ///< from the plane to the focus, along the normal; below 0 it lies behind
  std::array<double, 3> centre{};     ///< of the beam
  std::vector<double> envelope = {};  ///< f in the middle of each step; 0 after the last
};

/// Nodes of the box, x fastest, that are all at one potential, in rising order. Cells with no other nodes are
/// solid: what comes into them is absorbed.
struct conductor {
  std::vector<std::int64_t> nodes;
  double potential = 0;
};

/// Binary Coulomb collisions between two species, or within one.
struct encounter {
  int first = 0, second = 0;
  double logarithm = 10;  ///< of Coulomb
  int every = 1;          ///< steps, with the time of all of them
};

/// Particles of a species that ionise a gas at rest.
struct ionising {
  int by = 0, electrons = 0, ions = 0;  ///< species
  double loss = 0;                      ///< of energy, the binding energy in m_e c^2
  std::vector<double> energy,
      cross_section;            ///< table: m_e c^2, and what makes density x cross section x way a number
  std::vector<double> density;  ///< of the gas, in the cells of the box, x fastest; one number: everywhere
  double temperature = 0;       ///< of the gas, in m_e c^2
};

/// The box moves to higher x with this speed from a time on, cell by cell.
struct moving_window {
  double speed = 0, start = 0;
  bool on() const { return speed > 0; }
};

/// Units: c = epsilon_0 = 1, times in 1/omega_p, lengths in c/omega_p, fields in m_e c omega_p / e, momenta per mass.
struct plan {
  int dimensions = 1;
  std::array<int, 3> cells{1, 1, 1}, patches{1, 1, 1};  ///< one in dimensions that are not used
  std::array<double, 3> lengths{1, 1, 1};               ///< of the box, which begins at 0
  double dt = 0;
  int order = 1;  ///< of the particles' shape: 1, 2, 3
  std::uint64_t seed = 1;
  std::array<std::array<border, 2>, 3> borders{};  ///< low and high side of each dimension
  std::array<std::array<wall, 2>, 3> walls{};
  int layer = 8;                ///< cells of an absorbing layer
  double wall_temperature = 0;  ///< in m_e c^2, of thermal walls
  std::vector<species> kinds;
  std::vector<emitter> emitters;
  /// Electrostatic: E = -grad phi in each step, with these potentials of the conducting sides, in m_e c^2 / e; B
  /// as it was given.
  bool electrostatic = false;
  std::array<std::array<double, 2>, 3> potentials{};
  stencil curl = stencil::yee;
  std::vector<antenna> antennas;
  std::vector<conductor> conductors;
  std::vector<encounter> encounters;
  /// omega_p r_e / c and n_0^(1/3) c / omega_p, which collisions depend on beside normalised numbers.
  double coupling = 0, crowding = 0;
  std::vector<ionising> ionisations;
  moving_window window;

  double spacing(int d) const { return lengths[d] / cells[d]; }
  double cell_volume() const;
  /// The largest stable time step of the field solver: 1 / sqrt(sum 1/dx^2), or the least dx with cowan's stencil.
  double courant() const;
  /// Guard cells around a patch: what a particle that ends in the next cell reaches, and one more where a way that
  /// begins there, after a wall, is to be recorded too.
  int guard() const { return (order == 1 ? 2 : 3) + (dimensions > 1 && bounded()); }
  bool periodic(int d) const { return borders[d][0] == border::periodic; }
  /// Of the box where fields at nodes are known: those of high sides too, where it is not periodic.
  int nodes(int d) const { return cells[d] + (d < dimensions && !periodic(d)); }
  /// Cells that the window has moved by when a step begins.
  std::int64_t shifted(std::int64_t step) const;
  bool bounded() const { return !(periodic(0) && periodic(1) && periodic(2)); }

  /// Throws input_error that names the key, what it is and what is allowed.
  void check() const;
};

/// The side of the box that a plate lies on with its normal into the box; `side` is -1 where there is none.
struct side_of_box {
  int d = 0, side = -1;
};
side_of_box side_of(const plan& p, const emitter& e);

}  // namespace plaq::pic
