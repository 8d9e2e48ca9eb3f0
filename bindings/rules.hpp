// Settings of a problem of a solver, as properties.
#pragma once
#include <nanobind/nanobind.h>

#include "plaq/dca/problem.hpp"

namespace plaq::bindings {

/// Binds a setting of one part of a problem, read and written.
template <class Problem, class Part, class T>
void bind_setting(nanobind::class_<Problem>& bound, const char* name, Part Problem::*part, T Part::*setting) {
  bound.def_prop_rw(
      name, [=](const Problem& p) { return p.*part.*setting; }, [=](Problem& p, T value) { p.*part.*setting = value; });
}

/// Binds the settings of moves, measurements and chains that every solver has.
template <class Problem>
void bind_rules(nanobind::class_<Problem>& bound) {
  using moves = decltype(Problem::moves);
  using measured = decltype(Problem::measured);
  using dca::chain_rules;
  bind_setting(bound, "proposals_per_sweep", &Problem::moves, &moves::proposals_per_sweep);
  bind_setting(bound, "sweeps_between_rebuilds", &Problem::moves, &moves::sweeps_between_rebuilds);
  bind_setting(bound, "histogram_size", &Problem::measured, &measured::histogram_size);
  bind_setting(bound, "warm_up_sweeps", &Problem::rules, &chain_rules::warm_up_sweeps);
  bind_setting(bound, "sweeps_per_measurement", &Problem::rules, &chain_rules::sweeps_per_measurement);
  bind_setting(bound, "measurements_per_bin", &Problem::rules, &chain_rules::measurements_per_bin);
  bind_setting(bound, "bins", &Problem::rules, &chain_rules::bins);
  bind_setting(bound, "seed", &Problem::rules, &chain_rules::seed);
  bind_setting(bound, "point", &Problem::rules, &chain_rules::point);
  bind_setting(bound, "iteration", &Problem::rules, &chain_rules::iteration);
}

}  // namespace plaq::bindings
