// The slow versions that other tests compare with, against closed formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "exact_weights.hpp"
#include "plaq/dca/reference.hpp"

namespace plaq::dca::reference {
namespace {

dense hilbert(std::size_t n) {
  dense out(n, std::vector<long double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) out[i][j] = 1.L / (long double)(i + j + 1);
  return out;
}

TEST(determinant, of_hilbert_matrices_is_exact) {
  EXPECT_EQ(determinant({}), 1);
  EXPECT_NEAR(double(determinant(hilbert(2)) * 12), 1, 1e-15);
  EXPECT_NEAR(double(determinant(hilbert(3)) * 2160), 1, 1e-14);
  EXPECT_NEAR(double(determinant(hilbert(4)) * 6048000), 1, 1e-13);
}

TEST(determinant, changes_its_sign_with_two_rows) {
  EXPECT_EQ(determinant({{0, 1}, {1, 0}}), -1);
  EXPECT_EQ(determinant({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}), 1) << "an even permutation";
  EXPECT_EQ(determinant({{1, 2}, {2, 4}}), 0);
}

TEST(inverse, times_the_matrix_is_one) {
  dense a = hilbert(5);
  a[0][0] = 0;  // needs a pivot
  const dense b = inverse(a);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      long double sum = 0;
      for (std::size_t k = 0; k < 5; ++k) sum += a[i][k] * b[k][j];
      EXPECT_NEAR(double(sum), i == j, 1e-13);
    }
}

const exact_model model = plaquette(3, 4);
const vertex one{1, 1, 0.7};

TEST(weight, without_vertices_is_one) { EXPECT_EQ(model.weight({}), 1); }

TEST(weight, of_one_vertex_is_that_of_its_density) {
  // det N_sigma^-1 = e^V - g (e^V - 1) = 1 + n x with x = e^V - 1
  const vertex_strength x(model.parameters);
  const double n = 1 - (*model.g0)(0, 0., 0, 0.);
  EXPECT_NEAR(double(model.weight({one})), (1 + n * x(1, 1)) * (1 + n * x(-1, 1)), 1e-12);
}

TEST(weight, does_not_depend_on_the_order_of_the_vertices) {
  const std::vector<vertex> a = {one, {2, -1, 1.1}, {0, 1, 2.5}}, b = {a[2], a[0], a[1]};
  EXPECT_NEAR(double(model.weight(a) / model.weight(b)), 1, 1e-12);
}

TEST(worm_weight, without_vertices_is_the_product_of_both_spins_bath) {
  const auto& g0 = *model.g0;
  // G_up(b, a) G_down(a, b)
  EXPECT_NEAR(double(worm_weight(model.parameters, g0, {}, {0, 0.5}, {2, 1.5})),
              g0(2, 1.5, 0, 0.5) * g0(0, 0.5, 2, 1.5), 1e-12);
}

TEST(worm_weight, at_one_point_is_that_of_a_singly_occupied_site) {
  const double g = (*model.g0)(0, 0., 0, 0.);
  EXPECT_NEAR(double(worm_weight(model.parameters, *model.g0, {}, {0, 0.5}, {0, 0.5})), -g * (1 - g), 1e-12);
}

TEST(charge_worm_weight, without_vertices_is_the_bath) {
  EXPECT_NEAR(double(charge_worm_weight(model.parameters, *model.g0, {}, 1, {0, 0.5}, {2, 1.5})),
              -(*model.g0)(2, 1.5, 0, 0.5), 1e-12);
}

TEST(green, without_vertices_is_the_bath) {
  const sample empty = random_sample({0, 0, 0, 0}, 3, 1);
  EXPECT_EQ(green(*model.g0, empty, 0, 1, 0.3, 2, 1.2), (*model.g0)(1, 0.3, 2, 1.2));
}

TEST(product, of_functions_without_spin_and_momentum_is_known) {
  // g = 1 for all arguments: pp has one product, the others 4 -/+ 2 products and 2 exchange products, halved
  const auto momenta = torus{2, 2}.momenta();
  const auto ones = [](int, int, int, int, int) { return complex(1); };
  EXPECT_EQ(product(ones, momenta, channel::pp, 0, 0, 1, 0, 2, 0), complex(1));
  EXPECT_EQ(product(ones, momenta, channel::magnetic, 0, 0, 1, 0, 2, 0), complex(-1));
  EXPECT_EQ(product(ones, momenta, channel::charge, 0, 0, 1, 0, 2, 0), complex(1));
}

TEST(stored_functions, mirror_negative_frequencies) {
  const torus cluster{3, 1};
  const auto momenta = cluster.momenta();
  two_frequency::planes up;
  const int F = 2;
  for (int i = 0; i < 9 * F * 2 * F; ++i) up.re.push_back(float(i)), up.im.push_back(float(-2 * i));
  const stored_functions stored{momenta, F, {&up, &up}};
  for (int k = 0; k < 3; ++k)
    for (int q = 0; q < 3; ++q)
      for (int n = 0; n < F; ++n)
        for (int m = -F; m < F; ++m)
          EXPECT_EQ(stored(0, momenta.minus[std::size_t(k)], -1 - n, momenta.minus[std::size_t(q)], -1 - m),
                    std::conj(stored(0, k, n, q, m)));
}

TEST(reference_walker, accepts_a_first_vertex_by_its_weight) {
  reference::walker w(model.parameters, *model.g0);
  const stream_id stream{3, 1, 0, 0, 0, 0};
  int inserted = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const auto word = random_words(stream, number);
    w.block(stream, number, 1, {});
    if (!(word[0] & 1)) {
      EXPECT_TRUE(w.vertices.empty()) << "nothing to remove";
      continue;
    }
    const vertex v{int(below(word[3], 4)), word[0] & 2 ? 1 : -1, unit_interval(word[1]) * 3};
    const bool accepted = unit_interval(word[2]) < std::abs(double(model.weight({v})) * model.parameters.K);
    ASSERT_EQ(w.vertices.size(), accepted ? 1u : 0u);
    inserted += accepted;
    if (accepted) {
      EXPECT_EQ(w.vertices[0].tau, v.tau);
    }
  }
  EXPECT_GT(inserted, 20);
}

}  // namespace
}  // namespace plaq::dca::reference
