// What runs for every particle and every cell, compiled for each instruction set.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

/// Sums over particles: of w, w (gamma - 1) and w u.
struct sums {
  double weight = 0, kinetic = 0;
  std::array<double, 3> momentum{};
};

/// What of a species and a patch its motion depends on.
struct motion {
  pusher by = pusher::boris;
  double charge_per_mass = 0;
  double charge = 0;                           ///< of weight 1
  std::array<std::array<bool, 2>, 3> walls{};  ///< sides of the patch that are sides of the box
  bool far = false;                            ///< whether a way in a step may be longer than a cell
};

/// Particles that a step did not end with, in rising order: those that are in another patch now; and those whose way is
/// to be followed, since it meets a wall or is longer than a cell, which have got their new momentum but are where they
/// were.
struct set_apart {
  std::vector<std::uint32_t> leaving, to_follow;
};

/// Orders particles of the patch's own cells by cell, x fastest, as it makes the others fast. Those of a cell keep
/// their order.
template <class T>
void sort_by_cell(const block& m, particles<T>& p);

/// Momenta from t - dt/2 to t + dt/2, positions from t to t + dt, and J between, added. Sums are those of the new
/// momenta. Throws runtime_failure where a particle moves by more than a cell and may not, or by no number.
template <class T>
sums advance(const block& m, int order, const motion& how, fields<T>& f, particles<T>& p, set_apart& apart);

/// Momenta alone, over a time dt.
template <class T>
void kick(const block& m, int order, const motion& how, const fields<T>& f, particles<T>& p, double dt);

/// A straight way within a step, from a place in a cell; `by` in cells, in dimensions that are not used in lengths.
template <class T>
struct way {
  point cell;
  std::array<T, 3> from, by;
};
/// The current of a charge that goes this way in a step (Esirkepov, Comput. Phys. Commun. 135 (2001) 144), added
/// to J.
template <class T>
void deposit(const block& m, int order, fields<T>& f, const way<T>& along, double charge);

/// The charge density of particles, added to rho.
template <class T>
void deposit_charge(const block& m, int order, fields<T>& f, const particles<T>& p, double charge);

/// B += dt dB/dt wherever E around it is there: all but the last guard cells.
template <class T>
void advance_b(const block& m, fields<T>& f, double dt);
/// E += dt dE/dt in the patch's own cells.
template <class T>
void advance_e(const block& m, fields<T>& f, double dt);

/// V/2 sum of E_c^2, then of B_c^2, over a region.
template <class T>
std::array<double, 6> field_energies(const block& m, const region& r, const fields<T>& f);
/// div E - rho at the nodes of a region, row by row.
template <class T>
std::vector<T> gauss_residual(const block& m, const region& r, const fields<T>& f);

}  // namespace plaq::pic
