// Meshes over ranks that are threads of this process, against the definition.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "../collection/network.hpp"
#include "plaq/base/error.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/task/task.hpp"
#include "reference.hpp"

namespace plaq::fft {
namespace {

using namespace test;
using extents = std::array<int, 3>;

std::size_t number_of(extents n, int x, int y, int z) {
  return std::size_t(x) + std::size_t(n[0]) * (std::size_t(y) + std::size_t(n[1]) * std::size_t(z));
}
values drawn_mesh(extents n, bool real) {
  values out;
  for (std::size_t i = 0; i < number_of(n, 0, 0, n[2]); ++i)
    out.emplace_back(drawn_number(2 * i), real ? 0 : drawn_number(2 * i + 1));
  return out;
}

/// use(number in the mesh `n`, number in the block) for all points of a block, x fastest.
template <class Use>
void each_of(const block& b, extents n, Use use) {
  std::size_t i = 0;
  for (int z = 0; z < b.extent[2]; ++z)
    for (int y = 0; y < b.extent[1]; ++y)
      for (int x = 0; x < b.extent[0]; ++x) use(number_of(n, b.first[0] + x, b.first[1] + y, b.first[2] + z), i++);
}

/// A mesh that all ranks read and write.
struct shared_mesh {
  extents n;
  values all;
  std::vector<int> written = {};
  shared_mesh(extents n, values all) : n(n), all(std::move(all)), written(this->all.size(), 0) {}
  explicit shared_mesh(extents n) : shared_mesh(n, values(number_of(n, 0, 0, n[2]))) {}

  auto reads() const {
    return [this](const block& b, std::span<complex> to) {
      EXPECT_EQ(to.size(), b.size());
      each_of(b, n, [&](std::size_t i, std::size_t k) { to[k] = all[i]; });
    };
  }
  auto reads_real() const {
    return [this](const block& b, std::span<double> to) {
      EXPECT_EQ(to.size(), b.size());
      each_of(b, n, [&](std::size_t i, std::size_t k) { to[k] = all[i].real(); });
    };
  }
  auto writes() {
    return [this](const block& b, std::span<const complex> from) {
      EXPECT_EQ(from.size(), b.size());
      each_of(b, n, [&](std::size_t i, std::size_t k) { all[i] = from[k], ++written[i]; });
    };
  }
  auto writes_real() {
    return [this](const block& b, std::span<const double> from) {
      EXPECT_EQ(from.size(), b.size());
      each_of(b, n, [&](std::size_t i, std::size_t k) { all[i] = from[k], ++written[i]; });
    };
  }
  void expect_all_written_once() const { EXPECT_EQ(written, std::vector<int>(all.size(), 1)); }
};

/// body(mesh) on every rank.
template <class Body>
void with_mesh(int ranks, unsigned seed, extents n, const mesh_options& how, Body body) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
      mesh m("mesh", world, pool, n, how);
      body(m);
    });
    EXPECT_EQ(said, std::vector<std::string>(std::size_t(ranks)));
  });
}

struct one_case {
  extents n;
  int ranks;
  mesh_options how;
};
std::vector<one_case> cases() {
  std::vector<one_case> out;
  for (const extents n :
       {extents{6, 5, 4}, {7, 1, 3}, {9, 6, 1}, {1, 8, 5}, {5, 1, 1}, {1, 1, 1}, {8, 8, 8}, {3, 11, 13}})
    for (const int ranks : {1, 2, 3, 5, 16})
      for (const auto by : {cuts::slabs, cuts::pencils})
        for (const int parts : {1, 3})
          if ((ranks + parts + n[0]) % 2 == 0) out.push_back({n, ranks, {by, parts}});
  return out;
}
std::string words(const one_case& c) {
  std::string out = c.how.by == cuts::slabs ? "slabs" : "pencils";
  for (const int x : {c.n[0], c.n[1], c.n[2], c.ranks, c.how.parts_per_rank}) out += " " + std::to_string(x);
  return out;
}

TEST(fft_mesh, of_complex_numbers_there_and_back) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(words(c));
    const values start = drawn_mesh(c.n, false);
    values expected = start;
    transform_mesh(expected, c.n);
    const shared_mesh from(c.n, start);
    shared_mesh found(c.n), back(c.n);
    with_mesh(c.ranks, 1, c.n, c.how, [&](mesh& m) { m.forward(from.reads(), found.writes()); });
    with_mesh(c.ranks, 2, c.n, c.how, [&](mesh& m) { m.backward(found.reads(), back.writes()); });
    found.expect_all_written_once();
    back.expect_all_written_once();
    EXPECT_LT(largest_difference(found.all, expected), 1e-12);
    EXPECT_LT(largest_difference(back.all, start), 1e-14);
  }
}

TEST(fft_mesh, of_real_numbers_there_and_back) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(words(c));
    const values start = drawn_mesh(c.n, true);
    values expected = start;
    transform_mesh(expected, c.n);
    const extents half{c.n[0] / 2 + 1, c.n[1], c.n[2]};
    const shared_mesh from(c.n, start);
    shared_mesh found(half), back(c.n);
    with_mesh(c.ranks, 1, c.n, c.how, [&](mesh& m) { m.forward_real(from.reads_real(), found.writes()); });
    with_mesh(c.ranks, 2, c.n, c.how, [&](mesh& m) { m.backward_real(found.reads(), back.writes_real()); });
    found.expect_all_written_once();
    back.expect_all_written_once();
    for (int z = 0; z < half[2]; ++z)
      for (int y = 0; y < half[1]; ++y)
        for (int x = 0; x < half[0]; ++x)
          EXPECT_LT(std::abs(found.all[number_of(half, x, y, z)] - expected[number_of(c.n, x, y, z)]), 1e-12);
    EXPECT_LT(largest_difference(back.all, start), 1e-14);
  }
}

// Poisson's equation, -lap phi = rho, with a charge whose potential is known.
TEST(fft_mesh, solves_poissons_equation) {
  const extents n{12, 10, 8};
  const auto angle = [&](int d, int i) { return 2 * std::numbers::pi * i / n[std::size_t(d)]; };
  shared_mesh rho(n), phi(n);
  values expected(rho.all.size());
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        const auto i = number_of(n, x, y, z);
        const double wave = std::sin(2 * angle(0, x)) * std::cos(3 * angle(1, y)) + std::cos(angle(2, z));
        expected[i] = wave;
        rho.all[i] = 13 * std::sin(2 * angle(0, x)) * std::cos(3 * angle(1, y)) + std::cos(angle(2, z));  // box of 2 pi
      }
  const auto green = [&](const block& b, std::span<complex> values) {
    const auto wave_number = [&](int d, int k) {
      return double(2 * k > n[std::size_t(d)] ? k - n[std::size_t(d)] : k);
    };
    std::size_t i = 0;
    for (int z = 0; z < b.extent[2]; ++z)
      for (int y = 0; y < b.extent[1]; ++y)
        for (int x = 0; x < b.extent[0]; ++x, ++i) {
          const double kx = wave_number(0, b.first[0] + x), ky = wave_number(1, b.first[1] + y),
                       kz = wave_number(2, b.first[2] + z);
          const double k2 = kx * kx + ky * ky + kz * kz;
          values[i] = k2 > 0 ? values[i] / k2 : 0;
        }
  };
  for (const bool real : {false, true}) {
    phi = shared_mesh(n);
    with_mesh(3, 4, n, {.by = cuts::pencils}, [&](mesh& m) {
      if (real)
        m.apply_real(rho.reads_real(), green, phi.writes_real());
      else
        m.apply(rho.reads(), green, phi.writes());
    });
    phi.expect_all_written_once();
    EXPECT_LT(largest_difference(phi.all, expected), 1e-14) << real;
  }
}

TEST(fft_mesh, has_the_same_bits_on_any_ranks) {
  for (const extents n : {extents{10, 9, 7}, {16, 37, 12}, {22, 16, 106}}) {
    const shared_mesh from(n, drawn_mesh(n, false)), from_real(n, drawn_mesh(n, true));
    values first, first_real;
    for (unsigned seed = 0; seed < 6; ++seed)
      for (const auto by : {cuts::slabs, cuts::pencils}) {
        shared_mesh found(n), back(n);
        with_mesh(1 + int(seed) % 4, seed, n, {by, 1 + int(seed) % 3}, [&](mesh& m) {
          m.forward(from.reads(), found.writes());
          m.apply_real(from_real.reads_real(), [](const block&, std::span<complex>) {}, back.writes_real());
        });
        if (first.empty()) first = found.all, first_real = back.all;
        EXPECT_EQ(found.all, first);
        EXPECT_EQ(back.all, first_real);
      }
  }
}

// One mesh does many transforms, and its blocks are those that calls are made of.
TEST(fft_mesh, says_which_blocks_it_has) {
  const extents n{8, 6, 5}, half{5, 6, 5};
  shared_mesh counted(n), counted_k(n), counted_half(half);
  std::mutex guard;
  with_mesh(3, 1, n, {}, [&](mesh& m) {
    std::vector<block> read, written;
    const shared_mesh zeros(n);
    for (int time = 0; time < 2; ++time) {
      read.clear(), written.clear();
      std::mutex mine;
      m.forward(
          [&](const block& b, std::span<complex> to) {
            zeros.reads()(b, to);
            const std::lock_guard lock(mine);
            read.push_back(b);
          },
          [&](const block& b, std::span<const complex>) {
            const std::lock_guard lock(mine);
            written.push_back(b);
          });
    }
    const auto same = [](std::vector<block> a, std::vector<block> b) {
      const auto by_place = [](const block& one) { return one.first; };
      std::ranges::sort(a, {}, by_place);
      std::ranges::sort(b, {}, by_place);
      EXPECT_EQ(a, b);
    };
    same(read, m.blocks());
    same(written, m.blocks_of_k(false));
    const std::lock_guard lock(guard);
    for (const block& b : m.blocks()) each_of(b, n, [&](std::size_t i, std::size_t) { ++counted.written[i]; });
    for (const block& b : m.blocks_of_k(false))
      each_of(b, n, [&](std::size_t i, std::size_t) { ++counted_k.written[i]; });
    for (const block& b : m.blocks_of_k(true))
      each_of(b, half, [&](std::size_t i, std::size_t) { ++counted_half.written[i]; });
  });
  counted.expect_all_written_once();
  counted_k.expect_all_written_once();
  counted_half.expect_all_written_once();
}

TEST(fft_mesh, is_cut_as_asked) {
  const auto parts = [](extents n, int ranks, mesh_options how) {
    std::array<int, 2> out{};
    with_mesh(ranks, 0, n, how, [&](mesh& m) {
      if (ranks == 1) out = m.parts();
    });
    return out;
  };
  EXPECT_EQ(parts({64, 64, 64}, 1, {cuts::slabs, 8}), (std::array{1, 8}));
  EXPECT_EQ(parts({64, 64, 64}, 1, {cuts::pencils, 16}), (std::array{4, 4}));
  EXPECT_EQ(parts({64, 64, 6}, 1, {cuts::slabs, 100}), (std::array{1, 6}));
  EXPECT_EQ(parts({64, 64, 6}, 1, {cuts::pencils, 100}), (std::array{17, 6}));
  EXPECT_EQ(parts({64, 32, 1}, 1, {cuts::slabs, 100}), (std::array{32, 1}));
  EXPECT_EQ(parts({6, 32, 1}, 1, {cuts::slabs, 100}), (std::array{4, 1}));  // k_x of real values is 0 ... 3
  EXPECT_EQ(parts({64, 1, 1}, 1, {}), (std::array{1, 1}));
}

TEST(fft_mesh, refuses_what_cannot_be) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    const auto said = [&](extents n, mesh_options how) {
      return on_ranks(1, 0, [&](const comm::communicator& world) { mesh("mesh", world, pool, n, how); })[0];
    };
    EXPECT_EQ(said({4, 0, 3}, {}).find("a mesh of 4 x 0 x 3 points cannot be transformed"), 0u);
    EXPECT_EQ(said({4, 2, 3}, {.parts_per_rank = 0}).find("parts_per_rank of a mesh must be at least 1"), 0u);
    const auto failed = on_ranks(2, 0, [&](const comm::communicator& world) {
      mesh m("mesh", world, pool, {4, 4, 4});
      m.forward(
          [](const block& b, std::span<complex>) {
            if (b.first[2] == 1) throw std::runtime_error("no charge here");
          },
          [](const block&, std::span<const complex>) {});
    });
    for (const auto& s : failed)
      EXPECT_NE(s.find("mesh (0, 1), step 0 'read': no charge here"), std::string::npos) << s;
  });
}

}  // namespace
}  // namespace plaq::fft
