// Kernels of lqcd/device on teams of the host, and on a GPU if there is one.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "fields_of_tests.hpp"
#include "plaq/base/error.hpp"
#include "plaq/gpu/host_team.hpp"
#include "plaq/lqcd/device/launch.hpp"
#include "plaq/lqcd/device/solver.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using device::half_field;
using stop_reason = solver_result::stop_reason;

std::vector<gpu::device> places() {
  std::vector<gpu::device> out{{gpu::device::host}};
  if (!gpu::find_devices().gpus.empty()) out.push_back({0});
  return out;
}

rank_context& ranks() {
  static const comm::communicator self = single_rank();
  static rank_context alone(self);
  return alone;
}

/// Operator with random links and phases in all directions, and its hopping matrix on a device.
struct operators {
  operators(const coordinates& box, gpu::device where,
            const wilson_parameters& p = {.kappa = 0.1, .theta = {1, 0.3, 0, 0.7}})
      : layout(layout_of(box, 2)), M(ranks().ctx, random_links_on(layout), p, layout), there(M, where) {}
  std::shared_ptr<const site_layout> layout;
  wilson<double> M;
  device::hopping there;
};

template <class S>
half_field<S> on_device(const device::hopping& H, const spinors<double>& from, int parity) {
  half_field<double> exact(H.where(), H.sites());
  half_field<S> out(H.where(), H.sites());
  copy_to_device(*ranks().workers, from, parity, exact);
  launch(H.where(), device::convert<S>{{H.sites()}, out.data(), exact.data(), 1});
  return out;
}

template <class S>
spinors<double> from_device(const device::hopping& H, const half_field<S>& from, int parity,
                            const std::shared_ptr<const site_layout>& layout) {
  half_field<double> exact(H.where(), H.sites());
  exact.memory().clear();
  launch(H.where(), device::accumulate<S>{{H.sites()}, exact.data(), from.data(), 1});
  spinors<double> out(layout, of_parity(parity));
  copy_from_device(*ranks().workers, exact, parity, out);
  return out;
}

double largest(const spinors<double>& x) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::fmax(most, std::abs(x.data()[i]));
  return most;
}

/// Largest difference, in units of the largest number.
double deviation(const spinors<double>& found, const spinors<double>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) most = std::fmax(most, std::abs(found.data()[i] - expected.data()[i]));
  return most / largest(expected);
}

template <class S>
double resolution() {
  return std::same_as<S, double> ? 1e-14 : std::same_as<S, float> ? 1e-6 : 2e-4;
}

template <class S>
class device_hopping : public testing::Test {};
using storage_types = testing::Types<double, float, fixed16>;
TYPED_TEST_SUITE(device_hopping, storage_types);

TYPED_TEST(device_hopping, is_that_of_the_processor_on_lattices_of_any_shape) {
  using S = TypeParam;
  using T = device::number_of<S>;
  for (const gpu::device where : places())
    for (const coordinates& box : {coordinates{4, 6, 2, 8}, {2, 4, 10, 6}, {8, 2, 4, 34}}) {
      SCOPED_TRACE(to_string(box) + (where.gpu < 0 ? "" : " on the GPU"));
      operators o(box, where);
      const auto psi = random_spinors_on(o.layout, 1), phi = random_spinors_on(o.layout, 2);
      hopping<double> H(ranks().ctx, apply_phases<double>(random_links_on(o.layout), o.M.parameters().theta, o.layout),
                        phase_determinants<double>(o.M.parameters().theta, box));
      for (const int parity : {0, 1})
        for (const bool dagger : {false, true}) {
          const auto in = on_device<S>(o.there, psi, 1 - parity), other = on_device<S>(o.there, phi, parity);
          half_field<S> out(where, o.there.sites());
          spinors<double> expected(o.layout, of_parity(parity));
          auto k = o.there.kernel(out, in, parity, dagger);
          launch(where, k);
          H(expected, psi, parity, {.dagger = dagger});
          EXPECT_LT(deviation(from_device(o.there, out, parity, o.layout), expected), resolution<S>());
          k.c = {T(0.5), T(-1.5)}, k.d = {T(2), T(0.7)}, k.phi = other.data();
          launch(where, k);
          H(expected, psi, parity, {dagger, {0.5, -1.5}, &phi, {2, 0.7}});
          EXPECT_LT(deviation(from_device(o.there, out, parity, o.layout), expected), resolution<S>());
        }
    }
}

TYPED_TEST(device_hopping, subtracts_from_a_base_and_sums_squares) {
  using S = TypeParam;
  for (const gpu::device where : places()) {
    operators o({4, 6, 2, 8}, where);
    const auto psi = random_spinors_on(o.layout, 1), base = random_spinors_on(o.layout, 2);
    const auto in = on_device<S>(o.there, psi, 0), from = on_device<S>(o.there, base, 1);
    half_field<S> plain(where, o.there.sites()), out(where, o.there.sites());
    device::step_state s{.alpha = 0.75};
    gpu::memory state(where, sizeof s), parts(where, std::size_t(o.there.lattice().tiles()) * sizeof(double));
    state.put(0, &s, sizeof s);
    auto k = o.there.kernel(plain, in, 1);
    launch(where, k);
    k.out = out.data(), k.base = from.data(), k.norm2 = reinterpret_cast<double*>(parts.data());
    k.state = reinterpret_cast<const device::step_state*>(state.data());
    launch(where, k);
    const auto found = from_device(o.there, out, 1, o.layout), H = from_device(o.there, plain, 1, o.layout);
    auto expected = from_device(o.there, from, 1, o.layout);
    double square = 0, sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected.data()[i] -= 0.75 * H.data()[i];
      square += found.data()[i] * found.data()[i];
    }
    EXPECT_LT(deviation(found, expected), resolution<S>());
    std::vector<double> of_tiles(std::size_t(o.there.lattice().tiles()));
    parts.get(0, of_tiles.data(), of_tiles.size() * sizeof(double));
    for (const double part : of_tiles) sum += part;
    EXPECT_NEAR(sum / square, 1, resolution<S>());
    // Launches after the last step do nothing.
    s.last = true;
    state.put(0, &s, sizeof s);
    out.memory().clear();
    launch(where, k);
    EXPECT_EQ(largest(from_device(o.there, out, 1, o.layout)), 0);
  }
}

TYPED_TEST(device_hopping, has_the_same_bits_with_any_number_of_threads_and_on_a_gpu) {
  using S = TypeParam;
  std::vector<spinors<double>> results;
  std::vector<std::vector<double>> norms;
  const auto apply = [&](gpu::device where, auto&& run) {
    operators o({4, 6, 2, 8}, where);
    const auto in = on_device<S>(o.there, random_spinors_on(o.layout, 1), 0);
    half_field<S> out(where, o.there.sites());
    gpu::memory parts(where, std::size_t(o.there.lattice().tiles()) * sizeof(double));
    auto k = o.there.kernel(out, in, 1, true);
    k.norm2 = reinterpret_cast<double*>(parts.data()), k.phi = out.data();
    out.memory().clear();
    run(k);
    results.push_back(from_device(o.there, out, 1, o.layout));
    auto& found = norms.emplace_back(std::size_t(o.there.lattice().tiles()));
    parts.get(0, found.data(), found.size() * sizeof(double));
    EXPECT_TRUE(same_bits(results.back(), results.front()));
    EXPECT_EQ(norms.back(), norms.front());
  };
  for (const gpu::device where : places()) apply(where, [&](const auto& k) { launch(where, k); });
  for (const int threads : {1, 2, 3})
    apply({}, [&](const auto& k) {
      double scratch[device::scratch_size];
      gpu::thread_team::run(threads, [&](gpu::thread_team& team) {
        for (int tile = 0; tile < k.blocks(); ++tile) k(team, tile, scratch);
      });
    });
}

TEST(device_sums, have_the_same_bits_with_any_number_of_threads) {
  const int n = 700;
  std::vector<device::spinor_block<float>> x(std::size_t(device::blocks_for(n))), y(x.size());
  std::uint32_t random = 1;
  for (auto* field : {&x, &y})
    for (auto& b : *field)
      for (auto& row : b.at)
        for (auto& p : row)
          for (float& z : p.at) random = random * 1664525u + 1013904223u, z = float(random) * 1e-9f - 2;
  std::array<double, 6> parts;
  std::array<double, 2> sums, first{};
  const device::overlap<float, float> k{{n}, x.data(), y.data(), parts.data()};
  const device::total all{{}, parts.data(), k.blocks(), 2, sums.data()};
  for (const int threads : {1, 2, 3}) {
    double scratch[device::scratch_size];
    gpu::thread_team::run(threads, [&](gpu::thread_team& team) {
      for (int block = 0; block < k.blocks(); ++block) k(team, block, scratch);
      all(team, 0, scratch);
    });
    if (threads == 1) first = sums;
    EXPECT_EQ(sums, first);
  }
  std::complex<double> expected = 0;
  for (int site = 0; site < n; ++site)
    for (int i = 0; i < 12; ++i) {
      const auto z = [&](const auto& field) {
        const auto& p = field[std::size_t(site / 32)].at[i / 2][site % 32];
        return std::complex<double>(p.at[i % 2 * 2], p.at[i % 2 * 2 + 1]);
      };
      expected += std::conj(z(x)) * z(y);
    }
  EXPECT_NEAR(sums[0], expected.real(), 1e-10 * std::abs(expected));
  EXPECT_NEAR(sums[1], expected.imag(), 1e-10 * std::abs(expected));
}

TEST(device_sites, have_their_neighbours_in_tiles_of_any_size) {
  const coordinates extents{4, 6, 2, 10};
  for (const coordinates& most : {coordinates{1, 1, 1, 1}, {2, 2, 2, 16}, {3, 4, 2, 3}}) {
    const device::half_lattice lattice(extents, most);
    for (const int parity : {0, 1}) {
      std::vector<int> seen(std::size_t(lattice.sites()));
      for (int tile = 0; tile < lattice.tiles(); ++tile)
        for (int i = 0; i < lattice.tile_sites(); ++i) {
          const auto s = lattice.find(parity, tile, i);
          ++seen.at(std::size_t(s.number));
          const coordinates x = device::site_at(extents, parity, s.number);
          const auto expect = [&]<int D>() {
            const coordinates y = device::site_at(extents, 1 - parity, lattice.neighbour<D>(s));
            EXPECT_EQ(y, neighbour_of(x, D / 2, D % 2 ? -1 : 1, extents)) << to_string(x) << ", " << D;
          };
          [&]<int... D>(std::integer_sequence<int, D...>) {
            (expect.operator()<D>(), ...);
          }(std::make_integer_sequence<int, 8>());
        }
      EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
    }
  }
}

const wilson_parameters twisted{.kappa = 0.12, .mu = 0.05, .theta = {1, 0, 0, 0}};

TEST(device_solver, solves_as_the_processor_does) {
  const auto layout = layout_of({8, 4, 6, 4}, 2);
  wilson<double> M(ranks().ctx, random_links_on(layout), twisted, layout);
  const auto eta = random_spinors_on(layout, 3);
  spinors<double> psi(layout), expected(layout), left(layout);
  lqcd::solver here(M);
  const auto on_workers = here.solve(expected, eta, {.residual = 1e-12});
  for (const gpu::device where : places()) {
    device::solver there(M, where);
    for (const precision steps : {precision::in_double, precision::in_single, precision::in_half}) {
      const auto found = there.solve(psi, eta, {.steps = steps, .residual = 1e-11});
      SCOPED_TRACE(found.to_string() + "; on the workers " + on_workers.to_string());
      EXPECT_EQ(found.reason, stop_reason::converged);
      EXPECT_LE(found.residual, 1e-11);
      EXPECT_LT(found.steps, 2 * on_workers.steps);
      M.apply(left, psi);
      const double norm = std::sqrt(combine_norm2<double>(ranks().ctx, left, {{1, eta}, {-1, left}}));
      EXPECT_NEAR(norm / std::sqrt(norm2(ranks().ctx, eta)), found.residual, 1e-13);
      EXPECT_LT(deviation(psi, expected), 1e-10);
    }
  }
}

TEST(device_solver, solves_the_normal_equation_with_a_twist) {
  const auto layout = layout_of({4, 4, 6, 4}, 2);
  wilson<double> M(ranks().ctx, random_links_on(layout), twisted, layout);
  const auto phi = random_spinors_on(layout, 3, sites::odd);
  spinors<double> x(layout, sites::odd), expected(x);
  lqcd::solver here(M);
  here.solve_normal(expected, phi, 0.2, {.residual = 1e-13});
  for (const gpu::device where : places()) {
    device::solver there(M, where);
    for (const precision steps : {precision::in_double, precision::in_single, precision::in_half}) {
      const auto found = there.solve_normal(x, phi, 0.2, {.steps = steps, .residual = 1e-12});
      EXPECT_EQ(found.reason, stop_reason::converged) << found.to_string();
      EXPECT_LT(deviation(x, expected), 1e-11);
    }
  }
}

TEST(device_solver, has_the_same_bits_on_all_devices) {
  const auto layout = layout_of({4, 4, 4, 4}, 1);
  wilson<double> M(ranks().ctx, random_links_on(layout), twisted, layout);
  const auto eta = random_spinors_on(layout, 3);
  std::vector<spinors<double>> found;
  for (const gpu::device where : places())
    for (const int again : {0, 1}) {
      device::solver there(M, where);
      found.emplace_back(layout);
      there.solve(found.back(), eta, {.steps = precision::in_half, .residual = 1e-9});
      EXPECT_TRUE(same_bits(found.back(), found.front())) << where.gpu << again;
    }
}

TEST(device_solver, ends_where_it_is_told_to) {
  const auto layout = layout_of({4, 4, 4, 4}, 1);
  wilson<double> M(ranks().ctx, random_links_on(layout), twisted, layout);
  spinors<double> psi(layout), zero(layout);
  device::solver there(M, {});
  const auto few = there.solve(psi, random_spinors_on(layout, 3), {.max_steps = 5});
  EXPECT_EQ(few.reason, stop_reason::out_of_steps);
  EXPECT_EQ(few.steps, 5);
  const auto none = there.solve(psi, zero);
  EXPECT_EQ(none.reason, stop_reason::converged);
  EXPECT_EQ(largest(psi), 0);
  const auto far = there.solve(psi, random_spinors_on(layout, 3), {.steps = precision::in_half, .residual = 1e-20});
  EXPECT_EQ(far.reason, stop_reason::stalled);
  EXPECT_LT(far.residual, 1e-14);
}

TEST(device_solver, refuses_what_it_cannot_solve) {
  const auto layout = layout_of({4, 4, 4, 4}, 1);
  const auto links = random_links_on(layout);
  wilson<double> clover(ranks().ctx, links, {.kappa = 0.12, .csw = 1}, layout), M(ranks().ctx, links, twisted, layout);
  EXPECT_THROW(device::solver(clover, {}), input_error);
  device::solver there(M, {});
  spinors<double> psi(layout), eta(layout);
  EXPECT_THROW(there.solve(psi, eta, {.method = solver_method::bicgstab}), input_error);
  EXPECT_THROW(there.solve(psi, eta, {.residual = 0}), input_error);
}

}  // namespace
}  // namespace plaq::lqcd
