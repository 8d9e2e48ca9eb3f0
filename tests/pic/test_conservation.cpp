// The check that the numbers of particles follow their record.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/conservation.hpp"
#include "plaq/pic/mesh/record.hpp"

namespace plaq::pic {
namespace {

/// Row of the record of a plan with one species of 10 particles of weight 5, of which none leave.
std::vector<double> quiet_row(const plan& p) {
  std::vector<double> row(record::length(p));
  row[record::at(0, record::number)] = 10;
  row[record::at(0, record::weight)] = 5;
  return row;
}

struct conservation : testing::Test {
  const plan p = periodic(1, 1, 8, 2);
  std::vector<double> row = quiet_row(p);
  particle_counts counts;

  void SetUp() override { counts.assign({10, 5}); }
  double& column(std::size_t quantity) { return row[record::at(0, quantity)]; }
  std::string error(const std::vector<double>& rows) {
    try {
      counts.follow(p, 7, rows);
    } catch (const runtime_failure& failure) {
      return failure.what();
    }
    return "";
  }
};

TEST_F(conservation, holds_where_no_particle_leaves) { EXPECT_EQ(error(row), ""); }

TEST_F(conservation, counts_those_that_leave_are_emitted_and_absorbed) {
  column(record::left + 3) = 2, column(record::left_weight + 3) = 1;
  column(record::emitted) = 4, column(record::emitted_weight) = 2;
  column(record::absorbed) = 1, column(record::absorbed_weight) = 0.5;
  column(record::number) = 11, column(record::weight) = 5.5;
  EXPECT_EQ(error(row), "");
  EXPECT_NE(error(quiet_row(p)), "") << "the next step begins with 11 particles";
}

TEST_F(conservation, names_step_and_species_of_a_lost_particle) {
  auto rows = row;
  column(record::number) = 9;
  rows.insert(rows.end(), row.begin(), row.end());
  const std::string text = error(rows);
  EXPECT_EQ(text.find("step 9: of species \"" + p.species_list[0].name + "\" there are 9 particles"), 0u) << text;
}

TEST_F(conservation, allows_weights_to_differ_by_rounding_only) {
  column(record::weight) = 5 * (1 + 1e-10);
  EXPECT_EQ(error(row), "");
  column(record::weight) = 5 * (1 + 1e-8);
  EXPECT_NE(error(row), "");
}

}  // namespace
}  // namespace plaq::pic
