// Reactions: the same bits on any ranks.
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

void expect_same_on_ranks(const plan& p, std::size_t column) {
  const auto body = [](plasma& s) {
    fill(s, {.per_cell = 6, .thermal = 0.5});
    s.start();
    return s.advance(10, true);
  };
  const run one = on(1, p, {.pool = {.workers = 1}}, body);
  ASSERT_EQ(one.errors, std::vector<std::string>{""});
  double sum = 0;
  for (std::size_t row = 0; row < 10; ++row) sum += at(one, p, row, column);
  EXPECT_GT(sum, 5);
  for (const int ranks : {2, 4}) EXPECT_TRUE(same(one, on(ranks, p, {.pool = {.workers = 2}}, body))) << ranks;
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
    expect_same_on_ranks(p, record::reaction(p, 0));
    expect_same_on_ranks(p, record::reaction(p, 1));
  }
}

}  // namespace
}  // namespace plaq::pic::test
