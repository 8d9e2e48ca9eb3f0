// Slow, readable versions of the walker and the measurements, the oracle of their tests.
// All is computed from its definition, determinants by dense elimination, nothing kept from one step to the next.
#pragma once
#include <array>
#include <cmath>
#include <complex>
#include <set>
#include <utility>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/measure/two_frequency.hpp"
#include "plaq/dca/measure/two_particle.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/dca/walk/sample.hpp"

namespace plaq::dca::reference {

using dense = std::vector<std::vector<long double>>;  // [row][column]
using complex = std::complex<double>;

/// Returns the inverse by Gauss-Jordan elimination with row pivots.
inline dense inverse(dense a) {
  const std::size_t n = a.size();
  dense out(n, std::vector<long double>(n));
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[pivot], a[c]), std::swap(out[pivot], out[c]);
    const long double over = 1 / a[c][c];
    for (std::size_t j = 0; j < n; ++j) a[c][j] *= over, out[c][j] *= over;
    for (std::size_t r = 0; r < n; ++r) {
      const long double factor = a[r][c];
      if (r == c || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) a[r][j] -= factor * a[c][j], out[r][j] -= factor * out[c][j];
    }
  }
  return out;
}

/// Returns the determinant by Gauss elimination with row pivots.
inline long double determinant(dense a) {
  long double det = 1;
  for (std::size_t c = 0; c < a.size(); ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < a.size(); ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    if (pivot != c) std::swap(a[pivot], a[c]), det = -det;
    det *= a[c][c];
    for (std::size_t r = c + 1; r < a.size(); ++r) {
      const long double factor = a[r][c] / a[c][c];
      for (std::size_t j = c + 1; j < a.size(); ++j) a[r][j] -= factor * a[c][j];
    }
  }
  return det;
}

/// Returns N_sigma^-1 = e^V - g (e^V - 1).
inline dense inverse_n(const expansion& p, const g0_table& g0, const std::vector<vertex>& v, int sigma) {
  dense out(v.size(), std::vector<long double>(v.size()));
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) {
      const double x = vertex_strength(p)(sigma, v[j].spin);
      out[i][j] = (i == j ? 1 + x : 0.) - g0(v[i].site, v[i].tau, v[j].site, v[j].tau) * x;
    }
  return out;
}

/// Returns prod_sigma det N_sigma^-1.
inline long double weight(const expansion& p, const g0_table& g0, const std::vector<vertex>& v) {
  return determinant(inverse_n(p, g0, v, +1)) * determinant(inverse_n(p, g0, v, -1));
}

/// Returns the weight with a worm of spin_worm, whose ends are (site, tau): prod_sigma of the determinant with one more
/// row and column.
inline long double worm_weight(const expansion& p, const g0_table& g0, const std::vector<vertex>& v,
                               std::pair<int, double> a, std::pair<int, double> b) {
  long double product = 1;
  for (const int sigma : {+1, -1}) {
    const auto [row, column] = sigma > 0 ? std::pair(b, a) : std::pair(a, b);
    dense d = inverse_n(p, g0, v, sigma);
    for (std::size_t i = 0; i < v.size(); ++i) d[i].push_back(-g0(v[i].site, v[i].tau, column.first, column.second));
    d.emplace_back();
    for (const vertex& x : v)
      d.back().push_back(-g0(row.first, row.second, x.site, x.tau) * vertex_strength(p)(sigma, x.spin));
    // At one point b is just after a.
    d.back().push_back(a == b && sigma < 0 ? 1 - g0(0, 0., 0, 0.)
                                           : -g0(row.first, row.second, column.first, column.second));
    product *= determinant(d);
  }
  return product;
}

/// Returns the weight with a worm of charge_worm in spin sigma: c^dagger at a and c at b, which are (site, tau).
inline long double charge_worm_weight(const expansion& p, const g0_table& g0, const std::vector<vertex>& v, int sigma,
                                      std::pair<int, double> a, std::pair<int, double> b) {
  dense d = inverse_n(p, g0, v, sigma);
  for (std::size_t i = 0; i < v.size(); ++i) d[i].push_back(-g0(v[i].site, v[i].tau, a.first, a.second));
  d.emplace_back();
  for (const vertex& x : v)
    d.back().push_back(-g0(b.first, b.second, x.site, x.tau) * vertex_strength(p)(sigma, x.spin));
  d.back().push_back(-g0(b.first, b.second, a.first, a.second));
  return determinant(d) * determinant(inverse_n(p, g0, v, -sigma));
}

/// Walker that computes the weight from scratch for each proposal.
class walker {
 public:
  walker(const expansion& parameters, const g0_table& g0) : parameters_(parameters), g0_(g0) {}

  /// Makes the proposals of one block. The order of the vertices matters: a removal picks a position. Within a block
  /// new vertices join at the end, and the last one moves to the position of a removed one.
  void block(const stream_id& stream, std::uint64_t first, int count, std::vector<vertex> order) {
    vertices = std::move(order);
    weight_ = weight(parameters_, g0_, vertices);
    sign = (weight_ < 0 ? -1 : 1) * parameters_.sign_of_factor(int(vertices.size()));
    block_start_.clear();
    for (const vertex& v : vertices) block_start_.insert(v.tau);
    for (int i = 0; i < count; ++i) propose(random_words(stream, first + i));
  }

  std::vector<vertex> vertices;
  double sign = 1;
  int accepted = 0;
  int taken_back = 0;  ///< removals of vertices that were inserted in the same block

 private:
  void propose(const std::array<std::uint64_t, 4>& word) {
    const double u = unit_interval(word[2]);
    const auto k = vertices.size();
    auto after = vertices;
    long double factor;
    int removed = -1;
    if (word[0] & 1) {
      after.push_back(
          {int(below(word[3], parameters_.sites)), word[0] & 2 ? 1 : -1, unit_interval(word[1]) * parameters_.beta});
      factor = parameters_.K / (k + 1);
    } else {
      if (k == 0) return;
      removed = int(below(word[3], k));
      after[removed] = after.back();
      after.pop_back();
      factor = k / parameters_.K;
    }
    const long double weight_after = weight(parameters_, g0_, after), ratio = factor * weight_after / weight_;
    if (!(u < std::abs(ratio))) return;
    if (removed >= 0 && !block_start_.count(vertices[removed].tau)) ++taken_back;
    vertices = after;
    weight_ = weight_after;
    if (ratio < 0) sign = -sign;
    ++accepted;
  }

  expansion parameters_;
  const g0_table& g0_;
  long double weight_ = 1;
  std::set<double> block_start_;  // times of the vertices that the block began with
};

/// Returns g(i t, j t') = <c c+> of one configuration: g0 + g0 M g0.
inline double green(const g0_table& g0, const sample& s, int side, int i, double t, int j, double t2) {
  double sum = g0(i, t, j, t2);
  for (int x = 0; x < g0.sites(); ++x)
    for (int p = s.first[x]; p < s.first[x + 1]; ++p)
      for (int y = 0; y < g0.sites(); ++y)
        for (int q = s.first[y]; q < s.first[y + 1]; ++q)
          sum += g0(i, t, x, s.tau[p]) * s.m[side](p, q) * g0(y, s.tau[q], j, t2);
  return sum;
}

/// Returns the product that channel `kind` averages, at (k1, k2) and transfer (Q, m), of the functions g(spin, K, n,
/// K', n').
template <class Functions>
complex product(const Functions& g, const momentum_tables& momenta, channel kind, int k1, int n1, int k2, int n2, int Q,
                int m) {
  const int k1_plus = momenta.plus(k1, Q), k2_plus = momenta.plus(k2, Q);
  const int k1_minus = momenta.plus(momenta.minus[k1], Q), k2_minus = momenta.plus(momenta.minus[k2], Q);
  complex sum = 0;
  for (int s = 0; s < 2; ++s) switch (kind) {
      case channel::pp: sum += g(s, k1, n1, k2, n2) * g(1 - s, k1_minus, m - 1 - n1, k2_minus, m - 1 - n2); break;
      default:
        for (int s2 = 0; s2 < 2; ++s2)
          sum += (kind == channel::magnetic && s != s2 ? -1. : 1.) * g(s, k1_plus, n1 + m, k1, n1) *
                 g(s2, k2, n2, k2_plus, n2 + m);
        sum -= g(s, k2, n2, k1, n1) * g(s, k1_plus, n1 + m, k2_plus, n2 + m);
    }
  return 0.5 * sum;
}

/// Functions stored in planes, at frequencies of either sign.
struct stored_functions {
  const momentum_tables& momenta;
  int frequencies;
  std::array<const two_frequency::planes*, 2> spins;

  complex operator()(int side, int k1, int n1, int k2, int n2) const {
    if (n1 < 0) return std::conj((*this)(side, momenta.minus[k1], -1 - n1, momenta.minus[k2], -1 - n2));
    const std::size_t i =
        ((std::size_t(k1) * momenta.size + k2) * frequencies + n1) * 2 * frequencies + (n2 + frequencies);
    return {spins[side]->re[i], spins[side]->im[i]};
  }
};

/// Function of two_frequency by its definition, between (K, w_n) and (K', w_n') with indices of any sign.
class green_of_configuration {
 public:
  green_of_configuration(double beta, momentum_tables momenta, int frequencies, std::vector<complex> g0,
                         const sample& s)
      : beta_(beta), momenta_(std::move(momenta)), frequencies_(frequencies), g0_(std::move(g0)), sample_(s) {}

  complex bath(int k, int n) const {
    return n >= 0 ? g0_[k * frequencies_ + n] : std::conj(g0_[momenta_.minus[k] * frequencies_ - 1 - n]);
  }
  complex operator()(int side, int k1, int n1, int k2, int n2) const {
    complex m = 0;
    for (int x = 0; x < momenta_.size; ++x)
      for (int p = sample_.first[x]; p < sample_.first[x + 1]; ++p)
        for (int y = 0; y < momenta_.size; ++y)
          for (int q = sample_.first[y]; q < sample_.first[y + 1]; ++q)
            m += phase(k1, x, n1, sample_.tau[p]) * double(sample_.m[side](p, q)) *
                 std::conj(phase(k2, y, n2, sample_.tau[q]));
    const complex same = k1 == k2 && n1 == n2 ? bath(k1, n1) : 0;
    return same - bath(k1, n1) * m * bath(k2, n2) / (beta_ * momenta_.size);
  }

 private:
  complex phase(int k, int x, int n, double tau) const {
    return momenta_.fourier[k * momenta_.size + x] * std::polar(1., (2 * n + 1) * M_PI * tau / beta_);
  }

  double beta_;
  momentum_tables momenta_;
  int frequencies_;
  std::vector<complex> g0_;
  const sample& sample_;
};

}  // namespace plaq::dca::reference
