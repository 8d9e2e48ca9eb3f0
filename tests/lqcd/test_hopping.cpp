// Runs on any number of ranks, in every grid of them. Every rank has the whole lattice, too, for comparison.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "plaq/lqcd/dirac/hopping.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/reference/reference.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

template <class T>
struct fields {
  explicit fields(const lattice& on, int lanes)
      : layout(std::make_shared<site_layout>(on, lanes)), gauge(layout), psi(layout) {
    hot_start(gauge, 7);
    gaussian(psi, 7);
  }
  std::shared_ptr<const site_layout> layout;
  links<T> gauge;
  spinors<T> psi;
};

template <class Field>
void stream_of_numbers(Field& f) {
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < f.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    f.data()[i] = typename Field::number(double(state >> 40) / (1 << 24) - 0.5);
  }
}

template <class T>
spinors<T> applied(rank_context& ranks, const fields<T>& f, bool dagger = false) {
  hopping<T> H(ranks.ctx, f.gauge);
  spinors<T> out(f.layout);
  for (const int p : {0, 1}) H(out, f.psi, p, {.dagger = dagger});
  return out;
}

template <class T>
class hoppings : public testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(hoppings, precisions);

TYPED_TEST(hoppings, are_their_formula_on_any_grid_with_any_lanes) {
  using T = TypeParam;
  const coordinates extents{8, 4, 12, 4};
  const double tolerance = 200 * std::numeric_limits<T>::epsilon();
  rank_context ranks(world());
  const fields<double> whole(lattice(extents), 1);
  for (const bool dagger : {false, true}) {
    const auto expected =
        reference::hopping(extents, reference::whole(whole.gauge), reference::whole(whole.psi), dagger);
    for (const auto& grid : grids(extents))
      for (int lanes = 1; lanes <= max_lanes<T>(); lanes *= 2) {
        const fields<T> f(lattice(extents, grid, world().rank()), lanes);
        const auto actual = applied(ranks, f, dagger);
        double worst = 0;
        for_each_site(*f.layout, [&](const coordinates& x, site_layout::location p) {
          const auto at = index_in(x + f.layout->lattice().origin(), extents);
          for (int i = 0; i < 12; ++i)
            worst = std::max(worst, std::abs(std::complex<double>(actual.get(p, i)) - expected[at * 12 + i]));
        });
        EXPECT_LT(worst, tolerance) << to_string(grid) << ", " << lanes << " lanes";
      }
  }
}

TYPED_TEST(hoppings, have_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  using T = TypeParam;
  const coordinates extents{8, 4, 12, 4};
  rank_context single(single_rank());
  const fields<T> whole(lattice(extents), 1);
  const auto expected = applied(single, whole);
  for (const int workers : {1, 2}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(extents))
      for (int lanes = 1; lanes <= max_lanes<T>(); lanes *= 2) {
        const fields<T> f(lattice(extents, grid, world().rank()), lanes);
        const auto actual = applied(ranks, f);
        int different = 0;
        for_each_site(*f.layout, [&](const coordinates& x, site_layout::location p) {
          const auto location = whole.layout->locate(x + f.layout->lattice().origin());
          for (int i = 0; i < 12; ++i) {
            const auto a = actual.get(p, i), b = expected.get(location, i);
            different += std::memcmp(&a, &b, sizeof a) != 0;
          }
        });
        EXPECT_EQ(different, 0) << to_string(grid) << ", " << f.layout->lanes() << " lanes, " << workers << " workers";
      }
  }
}

TYPED_TEST(hoppings, compute_the_linear_combination_that_follows_them) {
  using T = TypeParam;
  const coordinates extents{4, 4, 4, 8};
  rank_context ranks(single_rank());
  const fields<T> f(lattice(extents), max_lanes<T>());
  const auto plain = applied(ranks, f);
  hopping<T> H(ranks.ctx, f.gauge);
  spinors<T> phi(f.layout), out(f.layout);
  gaussian(phi, 8);
  const chiral<T> c(T(0.5), T(-2)), d(T(3), T(0.25));
  for (const int p : {0, 1}) H(out, f.psi, p, {.c = c, .phi = &phi, .d = d});
  double worst = 0;
  for_each_site(*f.layout, [&](const coordinates&, site_layout::location p) {
    for (int i = 0; i < 12; ++i) {
      const auto ctx = [i](chiral<T> z) { return i < 6 ? z : std::conj(z); };
      worst = std::max(worst, double(std::abs(out.get(p, i) - ctx(c) * plain.get(p, i) - ctx(d) * phi.get(p, i))));
    }
  });
  EXPECT_LT(worst, 200 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(hoppings, have_the_same_bits_with_prefetches_and_streamed_stores_and_with_third_rows) {
  using T = TypeParam;
  const coordinates extents{8, 4, 8, 8};
  const auto layout = std::make_shared<site_layout>(lattice(extents), max_lanes<T>());
  near_links<T> links(layout);
  near_third_rows<T> third_rows(layout);
  spinors<T> in(layout), phi(layout), plain(layout), prefetched(layout), stored(layout);
  gaussian(in, 1), gaussian(phi, 2);
  stream_of_numbers(links);
  for (const T last : {T(1), T(-1)})  // kernels without and with determinants
    for (const int p : {0, 1})
      for (const bool dagger : {false, true}) {
        hopping_args<T> w{layout.get(), p, links.data(), {1, 1, 1, last}, in.of(1 - p), plain.of(p), dagger};
        w.phi = phi.of(p), w.c = {T(0.5), T(2)}, w.d = {T(1), T(-3)};
        hop(w, std::span(layout->interior(p)));
        w.out = prefetched.of(p), w.prefetch = w.stream = true;
        hop(w, std::span(layout->interior(p)));
        EXPECT_EQ(std::memcmp(plain.of(p), prefetched.of(p), plain.size() / 2 * sizeof(T)), 0) << p << dagger;
        compute_third_rows(w, 0, layout->groups(), third_rows.data());
        w.out = stored.of(p), w.prefetch = w.stream = false, w.third_rows = third_rows.data();
        hop(w, std::span(layout->interior(p)));
        EXPECT_EQ(std::memcmp(plain.of(p), stored.of(p), plain.size() / 2 * sizeof(T)), 0) << p << dagger;
      }
}

TYPED_TEST(hoppings, compute_the_third_row_of_links_with_phases) {
  using T = TypeParam;
  const coordinates extents{4, 8, 4, 4};
  const double tolerance = 200 * std::numeric_limits<T>::epsilon();
  rank_context ranks(single_rank());
  fields<T> f(lattice(extents), max_lanes<T>());
  std::array<std::complex<T>, 4> link_determinants;
  std::array<std::complex<T>, 4> phases;
  for (int mu = 0; mu < 4; ++mu) {
    phases[mu] = std::complex<T>(std::polar(1.0, 0.3 + mu));
    link_determinants[mu] = std::complex<T>(std::polar(1.0, 3 * (0.3 + mu)));
  }
  for_each_site(*f.layout, [&](const coordinates&, site_layout::location p) {
    for (int i = 0; i < 36; ++i) f.gauge.set(p, i, phases[i / 9] * f.gauge.get(p, i));
  });
  hopping<T> H(ranks.ctx, f.gauge, link_determinants);
  spinors<T> out(f.layout);
  for (const int p : {0, 1}) H(out, f.psi, p);
  const auto expected = reference::hopping(extents, reference::whole(f.gauge), reference::whole(f.psi));
  const auto actual = reference::whole(out);
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) worst = std::max(worst, std::abs(actual[i] - expected[i]));
  EXPECT_LT(worst, tolerance);
}

TYPED_TEST(hoppings, refuse_links_outside_of_su3) {
  using T = TypeParam;
  rank_context ranks(single_rank());
  fields<T> f(lattice({4, 4, 4, 4}), max_lanes<T>());
  const auto place = f.layout->locate({1, 2, 3, 0});
  f.gauge.set(place, 9 * 2 + 8, f.gauge.get(place, 9 * 2 + 8) + T(0.01));
  try {
    hopping<T> H(ranks.ctx, f.gauge);
    FAIL() << "links outside of SU(3) were accepted";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("1 x 2 x 3 x 0 in direction 2"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace plaq::lqcd
