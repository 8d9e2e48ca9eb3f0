// One time step of a patch.
//
// A step is: push, send parcels, receive them, count_particles; advance_fields, send halos, receive them,
// complete_fields; finish_step. In an electrostatic step a path may lead through several patches: after push and
// receive there is continue_push, whose parcels are sent and received, as often as particles are unfinished in any
// patch; then count_particles, the charge, set_electric_field, finish_step.
#pragma once
#include <vector>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Advances particles and, if asked to, deposits their current; returns the parcels for the neighbours at these shifts.
/// Throws runtime_failure that names the species where a momentum is not finite.
template <class T>
std::vector<parcel<T>> push(const plan& p, patch<T>& self, const std::vector<point>& shifts, bool current = true);
/// Continues the step of the particles that have arrived, to its end or to another patch.
template <class T>
std::vector<parcel<T>> continue_push(const plan& p, patch<T>& self, const std::vector<point>& shifts);
/// Adds the current and the particles of a neighbour's parcel.
template <class T>
void receive(const plan& p, patch<T>& self, parcel<T>&& from_neighbour);
/// Counts all particles, with those of the parcels, after conductors have absorbed theirs.
template <class T>
void count_particles(const plan& p, patch<T>& self);

/// Advances E by a step, B by half a step.
template <class T>
void advance_fields(const plan& p, patch<T>& self);
/// Returns E and B of the cells that are guards of the neighbour at `shift`.
template <class T>
halo<T> make_halo(const patch<T>& self, const point& shift);
/// Writes a neighbour's halo into the guard cells.
template <class T>
void receive(patch<T>& self, const halo<T>& from_neighbour);
/// Advances B by the second half of the step.
template <class T>
void complete_fields(const plan& p, patch<T>& self);
/// Sets E = -grad phi, phi as poisson.hpp gives it.
template <class T>
void set_electric_field(const plan& p, patch<T>& self, const std::vector<double>& phi);
/// Writes the record of the step.
template <class T>
void finish_step(const plan& p, patch<T>& self);

/// Sorts all species by cell, unless they are.
template <class T>
void sort_particles(patch<T>& self);
/// Deposits the charge of the patch's particles and plates, or that of one species alone; in an electrostatic run sorts
/// them first.
template <class T>
void deposit_own_charge(const plan& p, patch<T>& self, int only = -1);
/// Returns the charge in the guard cells that belong to the neighbour at `shift`.
template <class T>
halo<T> make_charge_halo(const patch<T>& self, const point& shift);
/// Adds a neighbour's charge halo.
template <class T>
void receive_charge(patch<T>& self, const halo<T>& from_neighbour);
/// Stores div E - rho as the background.
template <class T>
void store_background(const plan& p, patch<T>& self);
/// Writes the largest change of div E - rho since the start into the last record.
template <class T>
void check_gauss_law(const plan& p, patch<T>& self);

/// Completes fields that were given in own cells and whose halos were received: at the sides and in the layers.
template <class T>
void initialise_fields(patch<T>& self);
/// Moves momenta from t = 0 to -dt/2, and stores div E - rho as the background.
template <class T>
void initialise_momenta(const plan& p, patch<T>& self);

}  // namespace plaq::pic
