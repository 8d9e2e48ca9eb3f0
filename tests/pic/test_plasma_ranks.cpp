// Plasmas over MPI on any number of ranks: bitwise identical to those on one.
#include <gtest/gtest.h>

#include "../comm/ranks.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

std::vector<double> rows_with(const comm::communicator& world, int workers, bool balances) {
  plan p = between(periodic(2, 1, 12, 4), 1, field_boundary::conducting, particle_boundary::reflected,
                   particle_boundary::absorbed);
  const auto s = make_plasma(p, world, {.pool = {.workers = workers}});
  fill(*s, {.per_cell = 5, .thermal = 0.3, .density = [](const double* x) { return x[0] < 1 ? 4.0 : 1.0; }});
  s->start();
  std::vector<double> rows;
  for (int n = 0; n < 6; ++n) {
    const auto more = s->advance(5, true);
    rows.insert(rows.end(), more.begin(), more.end());
    if (balances) s->balance({.by = "hilbert_refine"});
  }
  return rows;
}

TEST(plasma_on_ranks, is_bitwise_identical_to_one_rank) {
  const auto expected = rows_with(comm::communicator(comm::serial_wire()), 1, false);
  EXPECT_EQ(rows_with(comm::test::world(), 1, false), expected);
  EXPECT_EQ(rows_with(comm::test::world(), 2, true), expected);
}

}  // namespace
}  // namespace plaq::pic
