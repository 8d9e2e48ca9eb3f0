#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/bin_layout.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

std::string in_words(const bin_layout& layout) {
  std::ostringstream out;
  for (const bin_array& a : layout) {
    out << a.offset << " " << a.name;
    for (const axis& along : a.axes) out << " " << along.name << ":" << along.size;
    out << (a.complex ? " complex\n" : "\n");
  }
  return out.str();
}

// Checkpoints hold bins as they lie here.
TEST(bin_layout, lists_all_arrays_in_their_order) {
  const auto p = some_problem(true, {{channel::magnetic, 1, 0}});
  const auto layout = layout_of(4, p->measured);
  EXPECT_EQ(in_words(layout),
            "0 sign\n"
            "1 order\n"
            "2 weight\n"
            "3 single_particle R:4 w:3 complex\n"
            "27 density\n"
            "28 double_occupancy\n"
            "29 spin R:4\n"
            "33 charge R:4\n"
            "37 static_spin R:4\n"
            "41 static_charge R:4\n"
            "45 equal_time R:4\n"
            "49 histogram k:50\n"
            "99 pairing orbit:5 n:3 n':6\n"
            "189 channel_0 K:4 K':4 n:6 n':6 complex\n");
  EXPECT_EQ(total_size(layout), 189u + 2 * 4 * 4 * 6 * 6);
}

TEST(bin_layout, is_what_accumulators_fill) {
  for (const bool pairing : {false, true}) {
    const auto p = some_problem(pairing, {{channel::pp, 1, 1}, {channel::charge, 0, 0}});
    const auto layout = layout_of(4, p->measured);
    p->rules.bins = 1;
    control c;
    const auto chains = run_all(p, fresh_chains(1, [](int) { return true; }), {}, c);
    const auto& sums = chains.at(0).bins.at(0).sums;
    ASSERT_EQ(sums.size(), total_size(layout));
    const auto at = [&](const char* name, std::size_t i = 0) { return sums.at(array_named(layout, name).offset + i); };
    double measurements = 0, order = 0;
    for (std::size_t k = 0; k < array_named(layout, "histogram").size(); ++k) {
      measurements += at("histogram", k);
      order += double(k) * at("histogram", k);
    }
    EXPECT_EQ(at("sign"), 66) << "half filling";
    EXPECT_EQ(measurements, 66);
    EXPECT_EQ(at("order"), order) << "without a sign";
    // n_R n_R at R = 0 is n + 2 docc, a 4 S^z S^z is n - 2 docc
    EXPECT_NEAR(at("charge"), at("density") + 2 * at("double_occupancy"), 1e-6 * at("weight"));
    EXPECT_NEAR(4 * at("spin"), at("density") - 2 * at("double_occupancy"), 1e-6 * at("weight"));
    EXPECT_NEAR(at("density") / at("weight"), 1, 0.2);
    EXPECT_NEAR(at("equal_time"), at("weight") - at("density") / 2, 1e-6 * at("weight"));
  }
}

TEST(bin_layout, without_two_particle_functions_ends_with_the_histogram) {
  EXPECT_EQ(layout_of(4, {}).back().name, "histogram");
  EXPECT_TRUE(two_particle_layout(4, {}).empty());
  EXPECT_EQ(total_size({}), 0u);
}

TEST(bin_layout, shares_are_disjoint_and_complete) {
  const auto whole = two_particle_layout(4, 3, 5, 2);
  for (int of : {1, 2, 3, 7, 100}) {
    std::vector<std::size_t> rows(whole.size());
    for (int part = 0; part < of; ++part) {
      const auto share = share_of(whole, {part, of});
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(share[i].name, whole[i].name);
        EXPECT_EQ(share[i].size() * whole[i].rows(), whole[i].size() * share[i].rows()) << "whole rows";
        rows[i] += share[i].rows();
      }
    }
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(rows[i], whole[i].rows());
  }
}

TEST(bin_layout, knows_no_other_names) { EXPECT_THROW(array_named(layout_of(4, {}), "pairing"), runtime_failure); }

}  // namespace
}  // namespace plaq::dca
