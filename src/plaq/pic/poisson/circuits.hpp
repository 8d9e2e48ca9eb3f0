// Circuits outside of the box: potentials of electrodes that are not given.
//
// Every electrode k has the charge Q_k = sum_j C_kj V_j - sum_p q_p phi_k(x_p): C is the capacity matrix of the empty
// box, phi_k the potential where electrode k has 1 and the others 0, at the particles p (Shockley, Ramo). Q_k changes
// by the particles that arrive and by the current I of its circuit, V_source - V_k = L dI/dt + R I + q/C, dq/dt = I
// (Verboncoeur, Alves, Vahedi, Birdsall, J. Comput. Phys. 104 (1993) 321; Vahedi, DiPeso, J. Comput. Phys. 131 (1997)
// 149). Both are solved together for all V_k, by backward differences of second order, before Poisson's equation.
#pragma once
#include <span>
#include <vector>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Potential difference of a circuit with a current, at the end of a step, as offset + impedance x charge.
struct circuit_branch {
  double offset = 0, impedance = 0;
};
/// Returns the branch of a circuit at the end of a step; the first one has differences of first order.
circuit_branch branch_of(const circuit& c, const circuit_state& before, double dt, bool first);

/// Potentials of the electrodes that have circuits.
class circuits {
 public:
  /// `capacity`: rows of C for the electrodes with circuits, [circuit][electrode].
  circuits(const plan& p, std::vector<std::vector<double>> capacity) : plan_(p), capacity_(std::move(capacity)) {}

  /// Step that leads to the states of a solution.
  enum class phase { at_rest, first_step, step };

  /// Advances all circuits. `potentials`: of all electrodes, of those with circuits the voltage of the source, which is
  /// replaced. `charges`: of each circuit sum_p q_p phi_k(x_p), then of each the charge that arrived. Throws
  /// runtime_failure where a potential is not finite.
  void advance(phase when, std::vector<circuit_state>& states, std::vector<double>& potentials,
               std::span<const double> charges) const;

 private:
  const plan& plan_;
  std::vector<std::vector<double>> capacity_;
};

/// Returns the charge of each electrode for a potential in a patch, without that of the particles at it; the sum over
/// all patches is that of the electrode.
std::vector<double> electrode_charges(const plan& p, const patch_grid& m, const sides& walls, const solid_mask& solids,
                                      const std::vector<double>& phi);
/// Returns for each circuit the sum of q phi over the particles of a patch, then for each the charge that arrived.
template <class T>
std::vector<double> circuit_charges(const plan& p, const patch<T>& self);

}  // namespace plaq::pic
