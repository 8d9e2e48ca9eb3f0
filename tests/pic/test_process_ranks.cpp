// Reactions and emission: the same bits on any ranks, balanced and resumed.
#include <gtest/gtest.h>

#include "whole.hpp"

namespace plaq::pic::test {
namespace {

/// Ions of both signs and electrons between conducting sides of x.
plan discharge(int dimensions) {
  plan p = between(periodic(dimensions, 2, 12, 2), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.electrostatic = true, p.dt = 0.1;
  p.species_list.push_back({"positive", 1, 25, pusher::boris});
  p.species_list.push_back({"negative", -1, 25, pusher::boris});
  p.potentials[0] = {0, 0.5};
  return p;
}

/// Expects the same bits on any ranks, and more than 5 in a column, from a plasma of this density.
void expect_same_on_any_ranks(const plan& p, std::initializer_list<std::size_t> columns, double density = 1) {
  const run one = same_on_any_ranks(p, [&](plasma& s) {
    fill(s, {.per_cell = 6, .thermal = 0.5, .density = [&](const double*) { return density; }});
    s.start();
  });
  for (const auto column : columns) EXPECT_GT(sum_of(one, p, column), 5) << column;
}

TEST(process_ranks, reactions) {
  for (const int dimensions : {1, 2}) {
    plan p = discharge(dimensions);
    p.species_list.push_back({"neutral", 0, 25, pusher::boris});
    p.reactions.resize(2);
    p.reactions[0].name = "neutralisation", p.reactions[0].first = 1, p.reactions[0].second = 2;
    p.reactions[1].name = "recombination", p.reactions[1].first = 0, p.reactions[1].second = 1;
    p.reactions[1].products = {3};
    for (reaction& r : p.reactions) r.energy = {0, 1}, r.rate = {1, 0.5};
    expect_same_on_any_ranks(p, {record::reaction(p, 0), record::reaction(p, 1)});
  }
}

/// The discharge of z and r, from the axis to a conducting mantle.
plan in_cylinder() {
  plan p = discharge(2);
  p.cylinder = true;
  p.field_boundaries[1] = {field_boundary::axis, field_boundary::conducting};
  p.particle_boundaries[1] = {particle_boundary::axis, particle_boundary::absorbed};
  return p;
}

TEST(process_ranks, laws_of_emission) {
  for (plan p : {discharge(1), discharge(2), in_cylinder()})
    for (const auto law : {emission_law::richardson, emission_law::fowler_nordheim}) {
      const bool heat = law == emission_law::richardson;
      p.coupling = 1e-3;
      const double half = p.dimensions > 1 ? 0.5 * p.lengths[1] : 0;
      p.emitters = {{.centre = {0, half, 0},
                     .half_width = half,
                     .weight = 1e-3,
                     .temperature = 0.01,
                     .law = law,
                     .work = heat ? 0.02 : 0.5,
                     .factor = heat ? 1.0 : 3.0,
                     .exponent = 0.3}};
      expect_same_on_any_ranks(p, {record::at(0, record::emitted)}, 1e-3);
    }
}

TEST(process_ranks, secondary_electrons) {
  for (plan p : {discharge(1), discharge(2), in_cylinder()}) {
    p.secondaries.resize(2);
    p.secondaries[1].projectiles = 1;
    for (secondary_emission& by : p.secondaries)
      by.at = {{{true, true}}}, by.temperature = 0.01, by.energy = {0, 1}, by.number = {0.7, 1.4, 2, 1};
    expect_same_on_any_ranks(p, {record::at(0, record::emitted)});
  }
}

}  // namespace
}  // namespace plaq::pic::test
