// Runs on any number of ranks, in every grid of them. The oracle: every rank also has the whole lattice by itself.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "job.hpp"
#include "plaq/lqcd/hopping.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/reference.hpp"

namespace plaq::lqcd {
namespace {

template <class T>
struct fields {
  explicit fields(const lattice& on, int lanes)
      : where(std::make_shared<layout>(on, lanes)), gauge(where), psi(where) {
    hot_start(gauge, 7);
    gaussian(psi, 7);
  }
  std::shared_ptr<const layout> where;
  links<T> gauge;
  spinors<T> psi;
};

template <class T>
spinors<T> applied(job& with, const fields<T>& f, bool dagger = false) {
  hopping<T> H(with.by, f.gauge);
  spinors<T> out(f.where);
  for (const int p : {0, 1}) H(out, f.psi, p, {.dagger = dagger});
  return out;
}

template <class T>
class hoppings : public testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(hoppings, precisions);

TYPED_TEST(hoppings, are_what_the_formula_says_on_any_grid_with_any_lanes) {
  using T = TypeParam;
  const coordinates extents{8, 4, 12, 4};
  const double tolerance = 200 * std::numeric_limits<T>::epsilon();
  job with(world());
  const fields<double> whole(lattice(extents), 1);
  for (const bool dagger : {false, true}) {
    const auto expected =
        reference::hopping(extents, reference::whole(whole.gauge), reference::whole(whole.psi), dagger);
    for (const auto& grid : grids(extents))
      for (int lanes = 1; lanes <= widest<T>(); lanes *= 2) {
        const fields<T> f(lattice(extents, grid, world().rank()), lanes);
        const auto found = applied(with, f, dagger);
        double worst = 0;
        each_site(*f.where, [&](const coordinates& x, layout::place p) {
          const auto at = number_in(x + f.where->on().origin(), extents);
          for (int i = 0; i < 12; ++i)
            worst = std::max(worst, std::abs(std::complex<double>(found.get(p, i)) - expected[at * 12 + i]));
        });
        EXPECT_LT(worst, tolerance) << in_words(grid) << ", " << lanes << " lanes";
      }
  }
}

TYPED_TEST(hoppings, have_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  using T = TypeParam;
  const coordinates extents{8, 4, 12, 4};
  job own(alone());
  const fields<T> whole(lattice(extents), 1);
  const auto expected = applied(own, whole);
  for (const int workers : {1, 2}) {
    job with(world(), "fiber", workers);
    for (const auto& grid : grids(extents))
      for (int lanes = 1; lanes <= widest<T>(); lanes *= 2) {
        const fields<T> f(lattice(extents, grid, world().rank()), lanes);
        const auto found = applied(with, f);
        int different = 0;
        each_site(*f.where, [&](const coordinates& x, layout::place p) {
          const auto there = whole.where->where(x + f.where->on().origin());
          for (int i = 0; i < 12; ++i) {
            const auto a = found.get(p, i), b = expected.get(there, i);
            different += std::memcmp(&a, &b, sizeof a) != 0;
          }
        });
        EXPECT_EQ(different, 0) << in_words(grid) << ", " << f.where->lanes() << " lanes, " << workers
                                << " workers";
      }
  }
}

TYPED_TEST(hoppings, take_what_follows_with_them) {
  using T = TypeParam;
  const coordinates extents{4, 4, 4, 8};
  job with(alone());
  const fields<T> f(lattice(extents), widest<T>());
  const auto plain = applied(with, f);
  hopping<T> H(with.by, f.gauge);
  spinors<T> phi(f.where), out(f.where);
  gaussian(phi, 8);
  const chiral<T> c(T(0.5), T(-2)), d(T(3), T(0.25));
  for (const int p : {0, 1}) H(out, f.psi, p, {.c = c, .phi = &phi, .d = d});
  double worst = 0;
  each_site(*f.where, [&](const coordinates&, layout::place p) {
    for (int i = 0; i < 12; ++i) {
      const auto by = [i](chiral<T> z) { return i < 6 ? z : std::conj(z); };
      worst = std::max(worst, double(std::abs(out.get(p, i) - by(c) * plain.get(p, i) - by(d) * phi.get(p, i))));
    }
  });
  EXPECT_LT(worst, 200 * std::numeric_limits<T>::epsilon());
}

}  // namespace
}  // namespace plaq::lqcd
