// The interaction expansion: every decision of its walker, its matrices, and its measurements against the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/ctint/accumulator.hpp"
#include "plaq/dca/ctint/reference.hpp"
#include "plaq/dca/ctint/solver.hpp"
#include "plaq/dca/ctint/two_particle.hpp"
#include "plaq/dca/ctint/walker.hpp"

namespace plaq::dca::ctint {
namespace {

constexpr int cells = 2, orbitals = 2, flavours = cells * orbitals;
constexpr double beta = 3;
const stream_id moves{17, 1, 0, 0, 0, 0};

int difference_of(int x, int y) {
  return ((x / orbitals - y / orbitals + cells) % cells * orbitals + x % orbitals) * orbitals + y % orbitals;
}

/// Table of two cells of two orbitals: h(K) = [[-.3, v], [v, .4]] + [[-1, .3], [.1, .5]] cos K and its transpose, no
/// function of it symmetric in the orbitals. g = e^{-h tau} / (1 + e^{-beta h}) from the eigenvectors of h at 0 and pi.
std::shared_ptr<const g0_table> bath(double mix) {
  constexpr int segments = 512;
  std::vector<double> c;
  const auto value = [&](int d, double tau, int derivative) {
    const int R = d / (orbitals * orbitals), a = d / orbitals % orbitals, b = d % orbitals;
    double sum = 0;
    for (int K = 0; K < cells; ++K) {
      const double sign = K == 0 ? 1 : -1;
      const double xx = -0.3 - sign, yy = 0.4 + 0.5 * sign, xy = mix + 0.2 * sign;
      const double middle = (xx + yy) / 2, half = std::hypot((xx - yy) / 2, xy),
                   angle = std::atan2(xy, (xx - yy) / 2) / 2;
      for (int band = 0; band < 2; ++band) {
        const double e = middle + (band == 0 ? half : -half);
        const double u[2] = {band == 0 ? std::cos(angle) : -std::sin(angle),
                             band == 0 ? std::sin(angle) : std::cos(angle)};
        sum +=
            (R == 0 ? 1 : sign) * u[a] * u[b] * std::exp(-e * tau) / (1 + std::exp(-beta * e)) * (derivative ? -e : 1);
      }
    }
    return sum / cells;
  };
  const double h = beta / segments;
  for (int d = 0; d < cells * orbitals * orbitals; ++d)
    for (int i = 0; i < segments; ++i) {
      const double f0 = value(d, h * i, 0), f1 = value(d, h * (i + 1), 0);
      const double d0 = h * value(d, h * i, 1), d1 = h * value(d, h * (i + 1), 1);
      c.insert(c.end(), {f0, d0, 3 * (f1 - f0) - 2 * d0 - d1, 2 * (f0 - f1) + d0 + d1});
      c.resize(c.size() + g0_table::terms - 4);
    }
  std::vector<int> difference;
  for (int x = 0; x < flavours; ++x)
    for (int y = 0; y < flavours; ++y) difference.push_back(difference_of(x, y));
  return std::make_shared<g0_table>(beta, flavours, segments, std::move(c), std::move(difference));
}

leg density_leg(int block, int orbital, int offset, std::vector<double> alpha) {
  leg out{block, {}, {}, std::move(alpha)};
  for (int cell = 0; cell < cells; ++cell) out.create.push_back((cell + offset) % cells * orbitals + orbital);
  out.annihilate = out.create;
  return out;
}
leg exchange_leg(int block, int create, int annihilate, double alpha) {
  leg out{block, {}, {}, {alpha, -alpha}};
  for (int cell = 0; cell < cells; ++cell) {
    out.create.push_back(cell * orbitals + create);
    out.annihilate.push_back(cell * orbitals + annihilate);
  }
  return out;
}

/// Repulsion of two blocks, attraction within a block between cells, and two exchange terms that are partners.
interacting_cluster model() {
  const std::vector<double> plus{1.1, -0.1}, minus{-0.1, 1.1};
  interacting_cluster c{beta, cells, orbitals, {0, 1}, {bath(0.1), bath(0.3)}, {}};
  c.types.push_back({{density_leg(0, 0, 0, plus), density_leg(1, 0, 0, minus)}, {1.5, 1.5}});
  c.types.push_back({{density_leg(0, 1, 0, plus), density_leg(0, 1, 1, plus)}, {-0.4, -0.4}});
  c.types.push_back({{density_leg(1, 0, 0, plus), density_leg(1, 1, 0, minus)}, {0.6, 0.6}});
  c.types.push_back({{exchange_leg(0, 0, 1, 0.2), exchange_leg(1, 1, 0, -0.2)}, {0.5, 0.5}, 4});
  c.types.push_back({{exchange_leg(0, 1, 0, 0.2), exchange_leg(1, 0, 1, -0.2)}, {0.5, 0.5}, 3});
  return c;
}

TEST(ctint_walker, decides_like_the_reference_and_keeps_the_inverse) {
  const interacting_cluster c = model();
  walker fast(c);
  reference::walker slow(c);
  fast.reset({});
  int longest = 0, negative = 0;
  for (int i = 0; i < 600; ++i) {
    fast.propose(moves, std::uint64_t(i), 1);
    slow.propose(moves, std::uint64_t(i));
    ASSERT_EQ(fast.counts().accepted, std::uint64_t(slow.accepted)) << i;
    ASSERT_EQ(fast.order(), int(slow.vertices.size())) << i;
    for (int v = 0; v < fast.order(); ++v) {
      EXPECT_EQ(fast.current().vertices[std::size_t(v)].tau, slow.vertices[std::size_t(v)].tau);
      EXPECT_EQ(fast.current().vertices[std::size_t(v)].site, slow.vertices[std::size_t(v)].site);
      EXPECT_EQ(fast.current().vertices[std::size_t(v)].spin, slow.vertices[std::size_t(v)].spin);
    }
    ASSERT_EQ(fast.current().sign, slow.sign) << i;
    longest = std::max(longest, fast.order());
    negative += slow.sign < 0;
  }
  EXPECT_LT(fast.rebuild(), 1e-9);
  EXPECT_EQ(fast.current().sign, slow.sign);
  EXPECT_GT(longest, 10);
  EXPECT_GT(negative, 0);
  EXPECT_GT(slow.pairs, 10);
}

TEST(ctint_walker, reverses_the_spins_of_a_cell_by_the_ratio_of_weights) {
  const std::vector<double> plus{1.1, -0.1}, minus{-0.1, 1.1};
  interacting_cluster c{beta, cells, orbitals, {0, 1}, {bath(0.1), bath(0.2)}, {}};
  c.types.push_back({{density_leg(0, 0, 0, plus), density_leg(1, 0, 0, minus)}, {1.5, 1.5}});
  for (int block = 0; block < 2; ++block)
    c.types.push_back({{density_leg(block, 0, 0, plus), density_leg(block, 1, 0, minus)}, {0.7 + block, 0.7 + block}});
  c.types.push_back({{density_leg(0, 1, 0, plus), density_leg(0, 1, 1, plus)}, {-0.4, -0.4}});
  c.reversals = {{{{0, 1}, {0, 0}}, {{2, 0}, {2, 1}}, {{1, 0}, {1, 1}}, {}}, {{{0, 1}, {0, 0}}, {}, {}, {}}};
  walker w(c);
  w.reset({});
  const stream_id flips{17, 2, 0, 0, 0, 0};
  const placement place(c);
  int accepted = 0;
  for (int i = 0; i < 60; ++i) {
    w.propose(moves, std::uint64_t(20 * i), 20);
    const configuration before = w.current();
    const auto word = random_words(flips, std::uint64_t(i));
    auto after = before.vertices;
    for (vertex& v : after)
      if (v.site % cells == int(below(word[3], cells))) place.reverse(c.reversals[below(word[0], 2)], v);
    const double ratio = double(reference::weight(c, after) / reference::weight(c, before.vertices));
    ASSERT_EQ(w.flip_cell(flips, std::uint64_t(i)), unit_interval(word[2]) < std::abs(ratio)) << i;
    const auto& expected = unit_interval(word[2]) < std::abs(ratio) ? after : before.vertices;
    for (std::size_t v = 0; v < expected.size(); ++v) {
      EXPECT_EQ(w.current().vertices[v].site, expected[v].site);
      EXPECT_EQ(w.current().vertices[v].spin, expected[v].spin);
    }
    accepted += unit_interval(word[2]) < std::abs(ratio);
    EXPECT_LT(w.rebuild(), 1e-8);
  }
  EXPECT_GT(accepted, 5);
  EXPECT_LT(accepted, 60);
}

TEST(ctint_walker, rebuilds_the_inverse_of_the_definition) {
  const interacting_cluster c = model();
  walker w(c);
  w.reset({});
  w.propose(moves, 0, 400);
  w.reset(w.current());
  for (int block = 0; block < 2; ++block) {
    const auto exact = dca::reference::inverse(reference::determinant_of(c, w.current().vertices, block));
    ASSERT_EQ(w.inverse(block).rows(), int(exact.size()));
    for (std::size_t i = 0; i < exact.size(); ++i)
      for (std::size_t j = 0; j < exact.size(); ++j)
        EXPECT_NEAR(w.inverse(block)(int(i), int(j)), double(exact[i][j]), 1e-9 * (1 + std::abs(double(exact[i][j]))));
  }
}

sample sample_of(const interacting_cluster& c, std::uint64_t index) {
  walker w(c);
  w.reset({});
  w.propose(moves, 0, 400);
  sample s;
  w.fill(s);
  s.index = index;
  return s;
}

TEST(ctint_measurements, are_those_of_the_reference) {
  const interacting_cluster c = model();
  measurement_list measured;
  measured.odd_frequencies = {1, 5};
  measured.histogram_size = 50;
  const chain_rules rules{.seed = 3};
  const sample s = sample_of(c, 2);
  accumulator all(c, measured, rules, 4);
  all.begin_bin(1);
  all.accumulate(s);
  const bin_result bin = all.end_bin();
  const bin_layout layout = layout_of(c, measured);
  const auto at = [&](const char* name, std::size_t i) { return bin.sums[array_named(layout, name).offset + i]; };
  ASSERT_EQ(bin.sums.size(), total_size(layout));
  EXPECT_EQ(at("sign", 0), s.sign);
  EXPECT_EQ(at("order", 0), s.sign * s.order);
  EXPECT_EQ(at("histogram", std::size_t(s.order)), 1);

  constexpr int differences = cells * orbitals * orbitals;
  for (int block = 0; block < 2; ++block)
    for (int d = 0; d < differences; ++d)
      for (int f = 0; f < 2; ++f) {
        std::complex<double> sum = 0;
        const block_sample& b = s.blocks[std::size_t(block)];
        for (int p = 0; p < b.size(); ++p)
          for (int q = 0; q < b.size(); ++q)
            if (difference_of(b.create.flavour[std::size_t(p)], b.annihilate.flavour[std::size_t(q)]) == d)
              sum += double(b.m(p, q)) *
                     std::polar(1., measured.odd_frequencies[std::size_t(f)] * M_PI / beta *
                                        (b.create.tau[std::size_t(p)] - b.annihilate.tau[std::size_t(q)]));
        const std::size_t i = std::size_t(2 * ((block * differences + d) * 2 + f));
        EXPECT_NEAR(at("single_particle", i), s.sign * sum.real(), 1e-4 * (1 + std::abs(sum)));
        EXPECT_NEAR(at("single_particle", i + 1), s.sign * sum.imag(), 1e-4 * (1 + std::abs(sum)));
      }

  const auto words = random_words(streams::of(rules, streams::measurement_times, 4, 1), s.index);
  const auto g = [&](int block, int x, int a, int y, int b) {
    return reference::green(c.bath(block), s.blocks[std::size_t(block)], x, beta * unit_interval(words[std::size_t(a)]),
                            y, beta * unit_interval(words[std::size_t(b)]));
  };
  const auto moved = [&](int block, int x, int y, int a) { return (x == y) - g(block, y, a, x, a); };  // <c+_x c_y>
  std::vector<double> equal(2 * differences), pairs(4 * differences), static_pairs(4 * differences), vertices(5);
  for (int a = 0; a < 4; ++a)
    for (int x = 0; x < flavours; ++x)
      for (int y = 0; y < flavours; ++y) {
        const auto d = std::size_t(difference_of(x, y));
        for (int s1 = 0; s1 < 2; ++s1) {
          equal[std::size_t(s1 * differences) + d] += g(s1, x, a, y, a) / (4 * cells);
          for (int s2 = 0; s2 < 2; ++s2)
            for (int b = 0; b < 4; ++b) {
              double product = moved(s1, x, x, a) * moved(s2, y, y, b);
              if (s1 == s2) product += (a == b ? moved(s1, x, y, a) : -g(s1, y, b, x, a)) * g(s1, x, a, y, b);
              const std::size_t i = std::size_t((s1 * 2 + s2) * differences) + d;
              if (a == b)
                pairs[i] += product / (4 * cells);
              else
                static_pairs[i] += product * beta / (12 * cells);
            }
        }
      }
  for (int a = 0; a < 4; ++a)
    for (int cell = 0; cell < cells; ++cell) {
      const int x = cell * orbitals, y = x + 1, other = (cell + 1) % cells * orbitals + 1;
      const auto n = [&](int block, int z) { return moved(block, z, z, a); };
      vertices[0] += n(0, x) * n(1, x) / (4 * cells);
      vertices[1] += (n(0, y) * n(0, other) + moved(0, y, other, a) * g(0, y, a, other, a)) / (4 * cells);
      vertices[2] += (n(1, x) * n(1, y) + moved(1, x, y, a) * g(1, x, a, y, a)) / (4 * cells);
      vertices[3] += moved(0, x, y, a) * moved(1, y, x, a) / (4 * cells);
      vertices[4] += moved(0, y, x, a) * moved(1, x, y, a) / (4 * cells);
    }
  const auto expect = [&](const char* name, const std::vector<double>& values) {
    ASSERT_EQ(array_named(layout, name).size(), values.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(at(name, i), s.sign * values[i], 1e-4 * (1 + std::abs(values[i]))) << name << " " << i;
  };
  expect("equal_time", equal);
  expect("pairs", pairs);
  expect("static_pairs", static_pairs);
  expect("vertices", vertices);
}

TEST(ctint_measurements, two_particle_functions_are_products_of_those_of_the_configuration) {
  interacting_cluster c = model();
  c.species = {0, 0};
  c.g0.pop_back();
  c.momenta = {cells, {1., 1., 1., -1.}, {0, 1, 1, 0}, {0, 1}};
  two_particle_list list{2, 3, {}, {{true, 1, 1}, {false, 1, -1}}};
  for (int i = 0; i < cells * orbitals * orbitals * 3; ++i)
    list.g0.emplace_back(0.1 * (i % 5) - 0.2, 0.3 - 0.07 * (i % 7));
  const sample s = sample_of(c, 0);
  two_particle measured(c, list);
  measured.begin_bin();
  measured.accumulate(s);

  using complex = std::complex<double>;
  const auto bath_at = [&](int K, int a, int b, int n) {
    const complex value = list.g0[std::size_t(((K * orbitals + a) * orbitals + b) * 3 + (n < 0 ? -1 - n : n))];
    return n < 0 ? std::conj(value) : value;
  };
  const auto g = [&](int block, int K, int a, int n, int K2, int b, int n2) {
    complex sum = K == K2 && n == n2 ? bath_at(K, a, b, n) : 0;
    const block_sample& at = s.blocks[std::size_t(block)];
    for (int p = 0; p < at.size(); ++p)
      for (int q = 0; q < at.size(); ++q) {
        const int x = at.create.flavour[std::size_t(p)], y = at.annihilate.flavour[std::size_t(q)];
        const complex left = bath_at(K, a, x % orbitals, n) * (K * (x / orbitals) % 2 ? -1. : 1.) *
                             std::polar(1., (2 * n + 1) * M_PI / beta * at.create.tau[std::size_t(p)]);
        const complex right = bath_at(K2, y % orbitals, b, n2) * (K2 * (y / orbitals) % 2 ? -1. : 1.) *
                              std::polar(1., -(2 * n2 + 1) * M_PI / beta * at.annihilate.tau[std::size_t(q)]);
        sum -= left * double(at.m(p, q)) * right / (beta * cells);
      }
    return sum;
  };
  for (std::size_t r = 0; r < 2; ++r) {
    const auto [pairs, Q, m] = list.requests[r];
    const auto sums = measured.sums(r);
    ASSERT_EQ(sums.size(), two_particle::size(c, list, list.requests[r]));
    std::size_t i = 0;
    for (const bool opposite : pairs ? std::vector{true} : std::vector{false, true})
      for (int K = 0; K < cells; ++K)
        for (int ab = 0; ab < 4; ++ab)
          for (int K2 = 0; K2 < cells; ++K2)
            for (int cd = 0; cd < 4; ++cd)
              for (int n = -2; n < 2; ++n)
                for (int n2 = -2; n2 < 2; ++n2, i += 2) {
                  if ((K + ab + K2 + cd + n + n2 + 16) % 5 != 0) continue;  // some of them: the definition is slow
                  const int a = ab / 2, b = ab % 2, e = cd / 2, d = cd % 2, P = (K + Q) % 2, P2 = (K2 + Q) % 2;
                  complex expected = 0;
                  for (int spin = 0; spin < 2; ++spin) {
                    const int other = opposite ? 1 - spin : spin;
                    if (pairs) {
                      expected += g(spin, K, a, n, K2, e, n2) * g(other, P, b, m - 1 - n, P2, d, m - 1 - n2);
                    } else {
                      expected += g(spin, P, a, n + m, K, b, n) * g(other, K2, e, n2, P2, d, n2 + m);
                      if (!opposite) expected -= g(spin, K2, e, n2, K, b, n) * g(spin, P, a, n + m, P2, d, n2 + m);
                    }
                  }
                  expected *= s.sign / 2;
                  EXPECT_NEAR(sums[i], expected.real(), 2e-3 * (1 + std::abs(expected))) << r << " " << i;
                  EXPECT_NEAR(sums[i + 1], expected.imag(), 2e-3 * (1 + std::abs(expected))) << r << " " << i;
                }
  }
}

TEST(ctint_problem, is_refused_where_its_parts_do_not_fit) {
  const auto refused = [](const char* message, auto&& change) {
    interacting_cluster c = model();
    change(c);
    try {
      walker w(c);
      w.reset({{{0, 0, 0.5}}, 1});
      ADD_FAILURE() << message;
    } catch (const runtime_failure& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  };
  refused("g0 belongs to another problem", [](auto& c) { c.beta = 4; });
  refused("a block has no bath", [](auto& c) { c.species[1] = 2; });
  refused("a leg lies in no block", [](auto& c) { c.types[0].legs[1].block = 2; });
  refused("legs need flavours for every cell", [](auto& c) { c.types[0].legs[1].create.pop_back(); });
  refused("a leg has an unknown flavour", [](auto& c) { c.types[0].legs[1].create[0] = flavours; });
  refused("alpha and weight of a vertex", [](auto& c) { c.types[0].weight.pop_back(); });
  refused("the partner of a type has none", [](auto& c) { c.types[0].partner = 1; });
  refused("a reversal needs all types", [](auto& c) { c.reversals = {{}}; });
  refused("a reversal needs all s of a type", [](auto& c) { c.reversals = {{{{0, 0}}, {}, {}, {}, {}}}; });
  refused("a reversal is no involution", [](auto& c) { c.reversals = {{{{0, 0}, {1, 1}}, {}, {}, {}, {}}}; });
  refused("weights must be finite", [](auto& c) { c.types[0].weight[1] = 0; });
}

TEST(ctint_walker, refuses_a_vertex_outside_the_problem) {
  const interacting_cluster c = model();
  walker w(c);
  for (const vertex& wrong : {vertex{10, 0, 0.5}, vertex{-1, 0, 0.5}, vertex{0, 2, 0.5}, vertex{0, 0, beta}})
    EXPECT_THROW(w.reset({{wrong}, 1}), runtime_failure);
}

}  // namespace
}  // namespace plaq::dca::ctint
