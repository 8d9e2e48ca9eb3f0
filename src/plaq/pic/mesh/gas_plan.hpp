// Gases in the box: what particles of a species do at their atoms.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plaq::pic {

/// Process of a particle with an atom. Elastic: any direction in the centre of mass; backscatter: the opposite one, as
/// in charge exchange with a gas of the same kind; excitation: as elastic, with a loss of energy; ionisation: a new
/// electron and ion; attachment: the particle and the atom become an ion.
enum class gas_process_kind { elastic, backscatter, excitation, ionisation, attachment };

/// Table of a process: energies in m_e c^2, rising; cross sections in units that make density x cross section x length
/// a number.
struct gas_process {
  gas_process_kind kind = gas_process_kind::elastic;
  std::string label;  ///< unique among the processes of a scattering, for the record
  double loss = 0;    ///< of energy, in m_e c^2
  std::vector<double> energy, cross_section;

  /// Returns whether the cross section below the first energy is the first one, and not 0.
  bool begins_at_zero() const { return kind == gas_process_kind::elastic || kind == gas_process_kind::backscatter; }
};

/// Share of the energy left by an ionisation that the new electron gets. equal: half; random: any part up to all;
/// opal: that of Opal, Peterson, Beaty, J. Chem. Phys. 55 (1971) 4100; none: it is at rest.
enum class energy_sharing { equal, random, opal, none };
/// Distribution of the directions of electrons: isotropic, or that of Vahedi and Surendra, Comput. Phys. Commun. 87
/// (1995) 179, forward at high energies.
enum class scattering_law { isotropic, vahedi_surendra };

/// Returns the enumerator of a name. Throws input_error that lists the names.
energy_sharing parse_energy_sharing(const std::string& name);
scattering_law parse_scattering_law(const std::string& name);
gas_process_kind parse_gas_process(const std::string& name);

/// Particles of a species in a gas.
struct gas_scattering {
  std::string name;
  int projectiles = 0;
  int electrons = -1, ions = -1, negative_ions = -1;  ///< species of products; -1: none
  double atom_mass = 1;                               ///< in m_e
  /// Density of the gas, in n_0, temperature in m_e c^2, drift as u: in the cells of the box, x fastest, or one number.
  std::vector<double> density, temperature;
  std::array<std::vector<double>, 3> drift;
  bool centre_energies = false;  ///< tables have energies in the centre of mass, else in the rest frame of the atom
  energy_sharing sharing = energy_sharing::equal;
  double opal_energy = 0;  ///< w of Opal et al., in m_e c^2
  scattering_law law = scattering_law::isotropic;
  std::vector<gas_process> processes;
  double largest_rate = 0;  ///< bound of the sum of `rate_coefficient`, at any energy; plan::complete sets it
  /// Bounds of the sum up to an energy, see rate_bound; plan::complete sets them.
  std::vector<double> rate_bounds = {};
  std::uint64_t first_bin = 0;
};

/// Returns the cross section at an energy of the table: linear between its entries, above them as at the last.
double cross_section(const gas_process& process, double energy);
/// Returns the relative velocity at an energy of the tables: that of the projectile in the rest frame of the atom.
/// `mass`: of the projectile.
double relative_velocity(const gas_scattering& by, double energy, double mass);
/// Returns the cross section times the relative velocity of a process, at an energy of the tables; above the last
/// energy the product is constant. `velocity`: relative_velocity at the energy.
double rate_coefficient(const gas_scattering& by, const gas_process& process, double energy, double velocity,
                        double mass);
/// Sets the bounds of the sum of `rate_coefficient` over all processes: at any energy, and up to each energy.
void set_rate_bounds(gas_scattering& by, double mass);
/// Returns a bound of the sum of `rate_coefficient` at any energy up to this one.
double rate_bound(const gas_scattering& by, double energy);

}  // namespace plaq::pic
