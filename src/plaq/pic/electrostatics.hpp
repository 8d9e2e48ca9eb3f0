// Electric field of the charges of all patches, and of the circuits outside of the box.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/pic/poisson/circuits.hpp"
#include "plaq/pic/poisson/poisson.hpp"
#include "plaq/pic/step.hpp"

namespace plaq::pic {

/// Returns phi of the patches of this rank, by number, from a charge density of each, charge(patch) in its own cells,
/// and from the potentials of all electrodes. Collective; waits for all patches.
template <class T, class Charge>
std::shared_ptr<std::map<int, std::vector<double>>> potentials_of(const plan& p, collection<patch<T>, index3>& all,
                                                                  poisson& by, const std::vector<double>& potentials,
                                                                  Charge charge) {
  all.wait();
  std::vector<patch_values> rho;
  std::map<int, const patch<T>*> here;
  all.each_local([&](const index3&, patch<T>& self) {
    rho.push_back({self.number, charge(self)});
    here[self.number] = &self;
  });
  auto phi = std::make_shared<std::map<int, std::vector<double>>>();
  for (patch_values& of_patch : by.solve(rho, potentials)) {
    const patch<T>& self = *here.at(of_patch.patch);
    set_conductor_potentials(p, self.mesh, self.solids, potentials, of_patch.values);
    (*phi)[of_patch.patch] = std::move(of_patch.values);
  }
  return phi;
}

/// Returns the same from rho of the patches, whose tasks need not be done.
template <class T>
std::shared_ptr<std::map<int, std::vector<double>>> potentials_of_charge(const plan& p,
                                                                         collection<patch<T>, index3>& all, poisson& by,
                                                                         const std::vector<double>& potentials) {
  return potentials_of(p, all, by, potentials, [](const patch<T>& self) {
    std::vector<T> values;
    append(self.mesh, own_cells(self.mesh), self.f.rho, values);
    return std::vector<double>(values.begin(), values.end());
  });
}

/// Solver of the electric field of a collection of patches.
template <class T>
class electrostatics {
 public:
  using patches = collection<patch<T>, index3>;

  /// Collective; the arguments outlive the solver.
  electrostatics(const plan& p, const comm::communicator& over, task::detail::pool_base& pool, patches& all)
      : plan_(p), patches_(all), poisson_(make_poisson(p, over, pool)) {}

  /// Sets phi and E of all patches from their rho, whose tasks need not be done. `potentials`: of all electrodes, of
  /// those with circuits the voltage of the source. Collective; waits for all patches.
  void solve(std::vector<double> potentials, circuits::phase when) {
    if (!plan_.circuits.empty()) {
      if (!circuits_) prepare_circuits();
      auto charges = patches_.reduce(
          "circuits", [this](const patch<T>& self) { return circuit_charges(plan_, self); }, std::vector<double>(),
          sum_of_lists);
      patches_.wait();
      circuits_->advance(when, states_, potentials, charges.get());
    }
    const auto phi = potentials_of_charge(plan_, patches_, *poisson_, potentials);
    patches_.each("electric field", [this, phi, states = states_](patch<T>& self) {
      self.circuits = states;
      set_electric_field(plan_, self, phi->at(self.number));
    });
  }

 private:
  /// Computes the potential of each electrode that has a circuit, where the others have 0, and the capacity matrix;
  /// reads the states.
  void prepare_circuits() {
    std::vector<double> unit(plan_.electrode_potentials().size());
    for (std::size_t k = 0; k < plan_.circuits.size(); ++k) {
      const auto electrode = std::size_t(plan_.circuits[k].electrode);
      unit[electrode] = 1;
      const auto phi = potentials_of(plan_, patches_, *poisson_, unit, [](const patch<T>& self) {
        return std::vector<double>(own_cells(self.mesh).size());
      });
      patches_.each_local(
          [&](const index3&, patch<T>& self) { self.unit_potentials[k] = std::move(phi->at(self.number)); });
      unit[electrode] = 0;
    }
    auto all = patches_.reduce(
        "capacity",
        [this](const patch<T>& self) {
          std::vector<double> rows;
          for (const auto& phi : self.unit_potentials) {
            const auto row = electrode_charges(plan_, self.mesh, self.walls, self.solids, phi);
            rows.insert(rows.end(), row.begin(), row.end());
          }
          return rows;
        },
        std::vector<double>(), sum_of_lists);
    auto states = patches_.reduce(
        "circuits", [](const patch<T>& self) { return self.circuits; }, std::vector<circuit_state>(),
        [](const std::vector<circuit_state>& a, const std::vector<circuit_state>& b) { return a.empty() ? b : a; });
    patches_.wait();
    states_ = states.get();
    const auto rows = all.get();
    std::vector<std::vector<double>> capacity;
    for (auto next = rows.begin(); next != rows.end(); next += std::ptrdiff_t(unit.size()))
      capacity.emplace_back(next, next + std::ptrdiff_t(unit.size()));
    circuits_ = std::make_unique<circuits>(plan_, std::move(capacity));
  }

  static std::vector<double> sum_of_lists(std::vector<double> a, const std::vector<double>& b) {
    if (a.empty()) return b;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }

  const plan& plan_;
  patches& patches_;
  std::unique_ptr<poisson> poisson_;
  std::unique_ptr<circuits> circuits_;  ///< made at first use
  std::vector<circuit_state> states_;
};

}  // namespace plaq::pic
