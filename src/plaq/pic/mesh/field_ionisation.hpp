// Plan of field ionisation.
#pragma once
#include <string>

namespace plaq::pic {

/// Ionisation of a species by the electric field, particle by particle: an ion and an electron of the same weight take
/// the place of each that is ionised.
struct field_ionisation {
  std::string name;
  int ionised = 0, ions = 0, electrons = 0;  ///< species
  double energy = 0;                         ///< ionisation potential, in E_h = 27.2 eV
  int charge_state = 1;                      ///< of the ion that is left
  int l = 0;                                 ///< orbital quantum number of the electron
  double atomic_field = 0;                   ///< in m_e c omega_p / e
  double atomic_time = 0;                    ///< in 1 / omega_p

  /// Returns the rate in 1/omega_p at an electric field E: Ammosov, Delone, Krainov, Sov. Phys. JETP 64 (1986) 1191, of
  /// an electron with m = 0 in a constant field.
  double rate(double field) const;
};

}  // namespace plaq::pic
