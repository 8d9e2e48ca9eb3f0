#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "plaq/base/error.hpp"
#include "plaq/dca/ctint/accumulator.hpp"
#include "plaq/dca/ctint/solver.hpp"
#include "rules.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::dca::ctint;
using namespace plaq::bindings;

namespace {

using tables = std::vector<std::pair<int, flat<double>>>;
using leg_tuple = std::tuple<int, flat<std::int32_t>, flat<std::int32_t>, flat<double>>;
using type_tuple = std::tuple<flat<double>, leg_tuple, leg_tuple, int>;

std::vector<std::shared_ptr<const plaq::dca::g0_table>> make_tables(double beta, int flavours, const tables& of,
                                                                    const std::vector<int>& difference) {
  std::vector<std::shared_ptr<const plaq::dca::g0_table>> out;
  for (const auto& [segments, coefficients] : of)
    out.push_back(std::make_shared<plaq::dca::g0_table>(beta, flavours, segments, copied(coefficients), difference));
  return out;
}

leg make_leg(const leg_tuple& from) {
  const auto& [block, create, annihilate, alpha] = from;
  return {block, copied(create), copied(annihilate), copied(alpha)};
}

}  // namespace

void bind_dca_general(nb::module_& m) {
  nb::class_<problem> bound(m, "GeneralProblem", "Problem of one iteration of the interaction expansion.");
  bound
      .def(
          "__init__",
          [](problem* self, double beta, int cells, int orbitals, const std::vector<int>& species, const tables& g0,
             flat<std::int32_t> difference, const std::vector<type_tuple>& types,
             const std::vector<reversal>& reversals, flat<std::int32_t> odd_frequencies) {
            problem p;
            p.model = {beta, cells, orbitals, species, make_tables(beta, cells * orbitals, g0, copied(difference)), {}};
            for (const auto& [weight, left, right, partner] : types)
              p.model.types.push_back({{make_leg(left), make_leg(right)}, copied(weight), partner});
            p.model.reversals = reversals;
            check_consistent(p.model);
            p.measured.odd_frequencies = copied(odd_frequencies);
            new (self) problem(std::move(p));
          },
          "beta"_a, "cells"_a, "orbitals"_a, "species"_a, "g0"_a, "difference"_a, "types"_a, "reversals"_a,
          "odd_frequencies"_a,
          "Make a problem.\n\n"
          "Flavour x = cell * orbitals + orbital. species: [block] number of its bath. g0: [species] (segments,\n"
          "coefficients [difference, segment, term]) of -G0. difference: [x, x'] number of (R - R', a, b). types:\n"
          "(weight [s], left leg, right leg, number of the partner or -1), a leg is (block, "
          "create [cell], annihilate "
          "[cell], alpha [s]). reversals: [type][s] of\n"
          "(type, s), empty where a type stays.")
      .def(
          "set_baths",
          [](problem& p, const std::vector<std::pair<tables, flat<std::complex<double>>>>& baths,
             const std::vector<int>& bath_of) {
            std::vector<std::shared_ptr<const bath_functions>> made;
            for (const auto& [of, at_frequencies] : baths) {
              plaq::check(of.size() == p.model.g0.size(), "a bath has another number of species");
              auto g0 = make_tables(p.model.beta, p.model.flavours(), of, p.model.g0.at(0)->difference());
              made.push_back(std::make_shared<bath_functions>(std::move(g0), copied(at_frequencies)));
            }
            p.baths.clear();
            for (const int b : bath_of) p.baths.push_back(made.at(std::size_t(b)));
          },
          "baths"_a, "bath_of"_a,
          "Give chain c bath bath_of[c] in place of the problem's.\n\n"
          "A bath is g0 and, where two-particle functions are measured, its values at their frequencies.")
      .def(
          "measure_two_particle",
          [](problem& p, int window, int frequencies, flat<std::complex<double>> g0_frequency,
             flat<std::complex<double>> fourier, flat<std::int32_t> momentum_sum, flat<std::int32_t> minus,
             const std::vector<std::tuple<bool, int, int>>& requests) {
            p.model.momenta = {p.model.cells, copied(fourier), copied(momentum_sum), copied(minus)};
            two_particle_list& list = p.measured.two_particle;
            list = {window, frequencies, copied(g0_frequency), {}};
            for (const auto& [pairs, transfer, bosonic] : requests) list.requests.push_back({pairs, transfer, bosonic});
          },
          "window"_a, "frequencies"_a, "g0_frequency"_a, "fourier"_a, "momentum_sum"_a, "minus"_a, "requests"_a,
          "Measure two-particle functions (pp or not, index of Q, m); g0_frequency: [species, K, a, b, n].")
      .def_prop_ro("beta", [](const problem& p) { return p.model.beta; });
  bind_rules(bound);
  bound.def(
      "layout", [](const problem& p) { return layout_to_dict(layout_of(p.model, p.measured)); },
      "Return {name: BinArray} of a bin, in the order of the arrays.");
  m.def(
      "run_chains",
      [](const problem& p, plaq::dca::chain_queue& queue, const std::string& backend, const plaq::task::options& pool,
         const std::pair<std::vector<int>, int>& gpus, int in_flight, plaq::dca::control& c) {
        plaq::check(gpus.first.empty(), "chains of the interaction expansion walk on workers only");
        const problem fixed = p;  // another thread may change the original
        plaq::batch::options options;
        options.backend = backend;
        options.pool = pool;
        options.in_flight = in_flight;
        nb::gil_scoped_release release;
        run_chains(fixed, queue, options, c);
      },
      "problem"_a, "queue"_a, "backend"_a, "options"_a, "gpus"_a, "in_flight"_a, "control"_a,
      "Advance every chain of the queue, of the interaction expansion, as above; gpus is empty.");
}
