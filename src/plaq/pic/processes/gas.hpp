// Scattering of particles by the atoms of a gas, which is not used up.
//
// Null-collision method: candidates come at the constant rate n_g k_max, where k_max bounds sum sigma v at any energy,
// and each is a process with its part of k_max, else nothing happens (Skullerud, J. Phys. D 1 (1968) 1567; Vahedi and
// Surendra, Comput. Phys. Commun. 87 (1995) 179). A particle may be a candidate several times in a step. Atoms have
// velocities of the gas's Maxwellian; each process is computed in the rest frame of its atom.
#pragma once
#include <array>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Momentum of a projectile per its mass, in the rest frame of an atom, after an elastic collision or an excitation.
/// `direction`: that of the projectile in the centre-of-mass frame after it; energies in m_e c^2.
/// @pre the kinetic energy in the centre of mass is at least `loss`.
std::array<double, 3> scatter_from_atom(const std::array<double, 3>& u, double mass, double atom_mass, double loss,
                                        const std::array<double, 3>& direction);

/// Scatters particles of a step: of all gases, in the order of the plan, with the momenta of this time, half a step
/// after those that particles have: so that motion and collisions alternate symmetrically. New particles begin at the
/// one that scatters, with its weight, and do not scatter in the same step. Counts every process.
/// @pre particles of each species are sorted by cell.
template <class T>
void scatter_in_gases(const plan& p, patch<T>& self);

}  // namespace plaq::pic
