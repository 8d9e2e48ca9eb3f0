// Sums of two-particle functions and the parts of them that travel, without a walk.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/packed_rows.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"
#include "plaq/dca/reference.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

constexpr int frequencies = 5, columns = 2 * frequencies;

std::vector<float> counting(std::size_t n) {
  std::vector<float> out(n);
  std::iota(out.begin(), out.end(), 1.f);
  return out;
}

TEST(needed_rows, are_from_the_lowest_to_the_highest_of_each_block) {
  needed_rows rows(2);
  EXPECT_EQ(rows.ranges().size(), 4u);
  for (const auto& r : rows.ranges()) EXPECT_EQ(r.size(), 0);
  for (const int row : {3, 1, 1, 4}) rows.add(2, row);
  rows.add(0, 0);
  EXPECT_EQ(rows.ranges()[2].first, 1);
  EXPECT_EQ(rows.ranges()[2].last, 5);
  EXPECT_EQ(rows.ranges()[0].size(), 1);
  EXPECT_EQ(rows.ranges()[1].size() + rows.ranges()[3].size(), 0);
}

// Rows drawn at random: whoever reads them finds what lies in the whole plane.
TEST(packed_rows, are_found_where_the_whole_would_have_them) {
  std::mt19937 random(4);
  for (int draw = 0; draw < 60; ++draw) {
    const int sites = 1 + int(random() % 4), blocks = sites * sites;
    needed_rows needed(sites);
    const int most = draw == 0 ? 0 : int(random() % 12);
    for (int i = 0; i < most; ++i) needed.add(random() % unsigned(blocks), int(random() % frequencies));
    const auto re = counting(std::size_t(blocks * frequencies * columns));
    auto im = re;
    for (float& x : im) x = -x;
    const packed_rows packed(needed, frequencies);
    std::vector<float> re_out(packed.size() + 1, 0.5f), im_out(packed.size() + 1, 0.5f);
    ASSERT_EQ(packed.pack(re, re_out.data()), re_out.data() + packed.size());
    ASSERT_EQ(packed.pack(im, im_out.data()), im_out.data() + packed.size());
    EXPECT_EQ(re_out.back(), 0.5f) << "nothing behind the end";
    const auto view = packed.view(re_out.data(), im_out.data());
    std::size_t rows = 0;
    for (int b = 0; b < blocks; ++b) {
      const auto& range = needed.ranges()[std::size_t(b)];
      rows += std::size_t(range.size());
      for (int row = range.first; row < range.last; ++row)
        for (int column = 0; column < columns; ++column) {
          const std::ptrdiff_t at = view.start(std::size_t(b), frequencies * columns) + row * columns + column;
          const std::size_t whole = std::size_t((b * frequencies + row) * columns + column);
          ASSERT_EQ(view.re[at], re[whole]);
          ASSERT_EQ(view.im[at], im[whole]);
        }
    }
    EXPECT_EQ(packed.size(), rows * columns);
  }
}

TEST(packed_rows, of_everything_are_the_plane) {
  needed_rows all(2);
  for (std::size_t b = 0; b < 4; ++b)
    for (int row = 0; row < frequencies; ++row) all.add(b, row);
  const auto plane = counting(4 * frequencies * columns);
  const packed_rows packed(all, frequencies);
  std::vector<float> out(packed.size());
  packed.pack(plane, out.data());
  EXPECT_EQ(out, plane);
}

struct sums_of_functions : testing::Test {
  const torus cluster{2, 2};
  std::shared_ptr<problem> p =
      some_problem(true, {{channel::pp, 1, 1}, {channel::magnetic, 3, 0}, {channel::charge, 0, -1}});
  two_frequency functions{3, cluster.momenta(), p->measured.two_particle_frequencies, p->measured.g0_frequency};
  std::mt19937_64 random{6};

  std::array<two_frequency::planes, 2> drawn() {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::array<two_frequency::planes, 2> g;
    for (auto& spin : g)
      for (auto* plane : {&spin.re, &spin.im}) {
        plane->resize(functions.block() * 16);
        for (float& x : *plane) x = uniform(random);
      }
    return g;
  }
};

// More than are summed in single precision: against one accumulator for each configuration, added in double.
TEST_F(sums_of_functions, are_in_double_where_there_are_many) {
  const int configurations = 300;
  const auto g = drawn(), other = drawn();
  two_particle_sums many(p->measured, functions);
  many.begin_bin();
  std::vector<double> one_by_one(total_size(two_particle_layout(4, p->measured)));
  double scale = 0;
  for (int i = 0; i < configurations; ++i) {
    const auto& now = i % 3 ? g : other;
    const double weight = i % 2 ? -0.5 : 0.75;
    many.accumulate(weight, now[0], now[1], many.measure_direct(now[0], now[1]));
  }
  for (const auto* now : {&g, &other}) {
    two_particle_sums single(p->measured, functions);
    single.begin_bin();
    single.accumulate(1, (*now)[0], (*now)[1], single.measure_direct((*now)[0], (*now)[1]));
    const auto value = single.end_bin();
    ASSERT_EQ(value.size(), one_by_one.size());
    double weights = 0;
    for (int i = 0; i < configurations; ++i)
      if ((i % 3 ? &g : &other) == now) weights += i % 2 ? -0.5 : 0.75;
    for (std::size_t i = 0; i < value.size(); ++i) one_by_one[i] += weights * value[i];
    for (const double x : value) scale = std::max(scale, std::abs(x));
  }
  const auto found = many.end_bin();
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], one_by_one[i], 1e-6 * scale * configurations) << i;
}

TEST_F(sums_of_functions, of_an_abandoned_bin_are_dropped) {
  const auto g = drawn();
  two_particle_sums unused(p->measured, functions), used(p->measured, functions);
  used.begin_bin();
  for (int i = 0; i < 130; ++i)  // so many that some are in double
    used.accumulate(1, g[0], g[1], used.measure_direct(g[0], g[1]));
  for (auto* sums : {&unused, &used}) {
    sums->begin_bin();
    sums->accumulate(-2, g[0], g[1], sums->measure_direct(g[0], g[1]));
  }
  EXPECT_EQ(unused.end_bin(), used.end_bin());
}

TEST_F(sums_of_functions, without_measurements_are_zero) {
  two_particle_sums none(p->measured, functions);
  none.begin_bin();
  const auto found = none.end_bin();
  EXPECT_EQ(found, std::vector<double>(total_size(two_particle_layout(4, p->measured))));
}

// Any number of parts, each from the rows alone that it says it needs.
TEST_F(sums_of_functions, in_parts_are_the_whole) {
  const auto g = drawn();
  two_particle_sums whole(p->measured, functions);
  whole.begin_bin();
  const auto direct = whole.measure_direct(g[0], g[1]);
  EXPECT_EQ(direct.size(), whole.direct_size());
  whole.accumulate(0.5, g[0], g[1], direct);
  const std::vector<double> expected = whole.end_bin();
  const auto layout = two_particle_layout(4, p->measured);
  for (const int of : {1, 2, 3, 11, 200}) {
    std::vector<std::size_t> filled(layout.size());
    for (int part = 0; part < of; ++part) {
      const portion mine{part, of};
      two_particle_sums share(p->measured, functions, mine);
      const packed_rows rows(share.needed(), functions.frequencies());
      std::array<std::vector<float>, 2> re, im;
      for (std::size_t spin = 0; spin < 2; ++spin) {
        re[spin].resize(rows.size());
        im[spin].resize(rows.size());
        rows.pack(g[spin].re, re[spin].data());
        rows.pack(g[spin].im, im[spin].data());
      }
      share.begin_bin();
      share.accumulate(0.5, rows.view(re[0].data(), im[0].data()), rows.view(re[1].data(), im[1].data()), direct);
      const auto found = share.end_bin();
      const auto here = share_of(layout, mine);
      ASSERT_EQ(found.size(), total_size(here));
      for (std::size_t a = 0; a < here.size(); ++a)
        for (std::size_t i = 0; i < here[a].size(); ++i)
          ASSERT_EQ(found[here[a].offset + i], expected[layout[a].offset + filled[a]++]) << layout[a].name << of;
    }
    for (std::size_t a = 0; a < layout.size(); ++a) EXPECT_EQ(filled[a], layout[a].size());
  }
}

TEST_F(sums_of_functions, are_written_into_arrays_of_their_size_only) {
  single_particle m(3, 4, {1, 3}, p->model.difference);
  pairing pairs(functions, p->measured.orbit, 3);
  vertex_channel pp(functions, channel::pp, 0, 0, 3);
  for (const int wrong : {-1, 1}) {
    std::vector<double> out(std::size_t(int(m.size()) + wrong));
    EXPECT_THROW(m.flush(out), runtime_failure);
    out.resize(std::size_t(int(pairs.size()) + wrong));
    EXPECT_THROW(pairs.flush(out), runtime_failure);
    out.resize(std::size_t(int(pp.size()) + wrong));
    EXPECT_THROW(pp.flush(out), runtime_failure);
  }
}

TEST_F(sums_of_functions, refuse_what_does_not_fit) {
  const auto& orbit = p->measured.orbit;
  EXPECT_THROW(pairing(functions, {orbit.begin(), orbit.end() - 1}, 3), runtime_failure);
  EXPECT_THROW(pairing(functions, orbit, 0), runtime_failure);
  EXPECT_NO_THROW(pairing(functions, orbit, functions.frequencies()));
  EXPECT_THROW(pairing(functions, orbit, functions.frequencies() + 1), runtime_failure);
  auto below_zero = orbit;
  below_zero[7] = -1;
  EXPECT_THROW(pairing(functions, below_zero, 3), runtime_failure);
  for (const int Q : {-1, 4}) EXPECT_THROW(vertex_channel(functions, channel::pp, Q, 0, 3), runtime_failure);
  for (const int m : {-2, 2}) EXPECT_THROW(vertex_channel(functions, channel::pp, 0, m, 3), runtime_failure);
  vertex_channel charge(functions, channel::charge, 0, 0, 3);
  const auto g = drawn();
  std::vector<float> direct(charge.direct_size() + 1);
  EXPECT_THROW(charge.measure_direct(g[0], g[1], direct), runtime_failure);
  EXPECT_THROW(charge.accumulate(1, g[0], g[1], direct), runtime_failure);

  auto momenta = cluster.momenta();
  momenta.minus.pop_back();
  EXPECT_THROW(two_frequency(3, momenta, 4, std::vector<std::complex<double>>(16)), runtime_failure);
  EXPECT_THROW(two_frequency(3, cluster.momenta(), 4, std::vector<std::complex<double>>(15)), runtime_failure);
}

}  // namespace
}  // namespace plaq::dca
