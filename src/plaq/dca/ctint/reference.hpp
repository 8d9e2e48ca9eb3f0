// Slow, readable versions of the walker and the measurements of the interaction expansion, the oracle of their tests.
#pragma once
#include <array>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/ctint/sample.hpp"
#include "plaq/dca/reference.hpp"

namespace plaq::dca::ctint::reference {

using dca::reference::dense;

/// Returns D of a block, by its definition: legs in the order of the vertices, the left one first.
inline dense determinant_of(const interacting_cluster& c, const std::vector<vertex>& vertices, int block) {
  struct row {
    std::size_t vertex;
    int side;
    placed_leg leg;
  };
  std::vector<row> rows;
  const placement place(c);
  for (std::size_t i = 0; i < vertices.size(); ++i)
    for (int side = 0; side < 2; ++side)
      if (c.types[std::size_t(place.type_of(vertices[i]))].legs[std::size_t(side)].block == block)
        rows.push_back({i, side, place(vertices[i], side)});
  dense d(rows.size(), std::vector<long double>(rows.size()));
  const g0_table& g0 = c.bath(block);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const row &a = rows[i], &b = rows[j];
      const int x = a.leg.annihilate, y = b.leg.create;
      // At one time c^dagger c of the left leg stands left of that of the right one.
      if (a.vertex == b.vertex && a.side >= b.side)
        d[i][j] = g0(x, c.beta, y, 0.) - (a.side == b.side ? a.leg.alpha : 0.);
      else
        d[i][j] = -g0(x, a.leg.tau, y, b.leg.tau);
    }
  return d;
}

/// Returns the weight of a configuration, prod (-w beta N_c) det D, without 1/k! and the measure of the times.
inline long double weight(const interacting_cluster& c, const std::vector<vertex>& vertices) {
  const placement place(c);
  long double out = 1;
  for (const vertex& v : vertices) out *= -place.weight(v) * c.beta * c.cells;
  for (int block = 0; block < c.blocks(); ++block)
    out *= dca::reference::determinant(determinant_of(c, vertices, block));
  return out;
}

/// Walker that computes the weight from scratch for each proposal.
class walker {
 public:
  explicit walker(const interacting_cluster& c) : cluster_(c), place_(c) {}

  void propose(const stream_id& stream, std::uint64_t number) {
    const auto word = random_words(stream, number), second = random_words(stream, ~number);
    const bool pair = sum_of([](const vertex_type& t) { return t.partner >= 0; }) > 0 && (word[0] & 2);
    auto after = vertices;
    double proposal;  // density of the reverse proposal over that of this one
    if (word[0] & 1) {
      const auto any = [&](const vertex_type& t) { return !pair || t.partner >= 0; };
      const vertex v = draw(any, word);
      after.push_back(v);
      const double inserted = density(v, any);
      if (pair) {
        const int partner = cluster_.types[std::size_t(place_.type_of(v))].partner;
        const auto same = [&](const vertex_type& t) { return &t == &cluster_.types[std::size_t(partner)]; };
        const vertex w = draw(same, second);
        proposal =
            1 / (double(all_paired().size()) + 2) / (double(of_type(partner).size()) + 1) / inserted / density(w, same);
        after.push_back(w);
      } else {
        proposal = 1 / double(after.size()) / inserted;
      }
    } else {
      const auto chosen = pair ? all_paired() : all();
      if (chosen.empty()) return;
      const std::size_t i = chosen[below(word[3], chosen.size())];
      const vertex v = vertices[i];
      const auto any = [&](const vertex_type& t) { return !pair || t.partner >= 0; };
      proposal = double(chosen.size()) * density(v, any);
      std::vector<std::size_t> gone{i};
      if (pair) {
        const int partner = cluster_.types[std::size_t(place_.type_of(v))].partner;
        auto others = of_type(partner);
        std::erase(others, i);
        if (others.empty()) return;
        gone.push_back(others[below(second[3], others.size())]);
        proposal *= double(others.size()) * density(vertices[gone[1]], [&](const vertex_type& t) {
                      return &t == &cluster_.types[std::size_t(partner)];
                    });
        if (gone[0] < gone[1]) std::swap(gone[0], gone[1]);
      }
      for (const std::size_t gap : gone) {  // the last one moves to each gap, the highest first
        after[gap] = after.back();
        after.pop_back();
      }
    }
    const long double ratio = weight(cluster_, after) / weight(cluster_, vertices) * proposal;
    if (!(unit_interval(word[2]) < std::abs(ratio))) return;
    vertices = after;
    if (ratio < 0) sign = -sign;
    ++accepted;
    pairs += pair;
  }

  std::vector<vertex> vertices;
  double sign = 1;
  int accepted = 0, pairs = 0;

 private:
  template <class Which>
  double sum_of(Which&& which) const {
    double sum = 0;
    for (const vertex_type& t : cluster_.types)
      if (which(t))
        for (const double w : t.weight) sum += std::abs(w);
    return sum;
  }
  /// Draws a type and s with the probability |weight| over the sum of it, cell and time uniformly.
  template <class Which>
  vertex draw(Which&& which, const std::array<std::uint64_t, 4>& word) const {
    double left = unit_interval(word[0]) * sum_of(which);
    vertex v{-1, 0, unit_interval(word[1]) * cluster_.beta};
    for (int t = 0; t < int(cluster_.types.size()); ++t)
      if (which(cluster_.types[std::size_t(t)]))
        for (int s = 0; s < int(cluster_.types[std::size_t(t)].weight.size()); ++s)
          if (v.site < 0) {
            left -= std::abs(cluster_.types[std::size_t(t)].weight[std::size_t(s)]);
            if (left < 0) {
              v.site = t * cluster_.cells + int(below(word[3], std::uint64_t(cluster_.cells)));
              v.spin = s;
            }
          }
    return v;
  }
  /// Density of such draws, relative to the measure of the weight.
  template <class Which>
  double density(const vertex& v, Which&& which) const {
    return std::abs(place_.weight(v)) / sum_of(which);
  }
  template <class Which>
  std::vector<std::size_t> positions(Which&& which) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < vertices.size(); ++i)
      if (which(place_.type_of(vertices[i]))) out.push_back(i);
    return out;
  }
  std::vector<std::size_t> all() const {
    return positions([](int) { return true; });
  }
  std::vector<std::size_t> of_type(int type) const {
    return positions([=](int t) { return t == type; });
  }
  std::vector<std::size_t> all_paired() const {
    return positions([&](int t) { return cluster_.types[std::size_t(t)].partner >= 0; });
  }

  const interacting_cluster& cluster_;
  placement place_;
};

/// Returns g(x t, y t') = <c c+> of one block: g0 + g0 M g0.
inline double green(const g0_table& g0, const block_sample& s, int x, double t, int y, double t2) {
  double sum = g0(x, t, y, t2);
  for (int p = 0; p < s.size(); ++p)
    for (int q = 0; q < s.size(); ++q)
      sum += g0(x, t, s.create.flavour[std::size_t(p)], s.create.tau[std::size_t(p)]) * s.m(p, q) *
             g0(s.annihilate.flavour[std::size_t(q)], s.annihilate.tau[std::size_t(q)], y, t2);
  return sum;
}

}  // namespace plaq::dca::ctint::reference
