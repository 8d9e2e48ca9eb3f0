#include "plaq/dca/walk/spin_worm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/dca/walk/spin_flip.hpp"
#include "plaq/linalg/inverse.hpp"
#include "plaq/linalg/sum.hpp"

namespace plaq::dca {

namespace {
constexpr int up = 0, down = 1;
constexpr int sigma_of[2] = {+1, -1};

double dot(int n, const double* a, const double* b) {
  return linalg::sum_in_lanes<16>(n, [&](int i) { return a[i] * b[i]; });
}
void add(int n, double factor, const double* from, double* to) {
  for (int i = 0; i < n; ++i) to[i] += factor * from[i];
}
}  // namespace

spin_worm::spin_worm(const expansion& parameters, std::shared_ptr<const g0_table> g0)
    : parameters_(parameters), g0_(std::move(g0)), strength_(parameters), g_equal_((*g0_)(0, 0., 0, 0.)) {}

template <class Real>
bool spin_worm::walk(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n,
                     const stream_id& stream, std::uint64_t first, int longest) {
  const double beta = parameters_.beta;
  const int sites = parameters_.sites;
  const double longest_step = std::min(beta / 2, reach * beta * sites / double(vertices.size()));
  load(vertices, n);

  // Opening. Choice: a point and a step of at most longest_step, as in closing, so that the proposals cancel
  const auto words = random_words(stream, first);
  const double distance = (2 * unit_interval(words[1]) - 1) * longest_step;
  const int site = int(below(words[3], sites));
  const double tau = beta * unit_interval(words[0]);

  // Weight: of the worm at one point, then after the step
  const double opened = open(site, tau);
  const double opening_ratio = opened * try_step(site, wrap(tau + distance), vertices_between(site, tau, distance));
  if (!(unit_interval(words[2]) < opening * std::abs(opening_ratio))) return false;
  step();

  for (int i = 1; i <= longest; ++i) {
    const auto word = random_words(stream, first + i);
    const double kind = unit_interval(word[0]), u = unit_interval(word[2]);
    if (kind < closing_probability) {
      // Closing
      double back = a_.tau - b_.tau;
      back -= beta * std::round(back / beta);
      if (b_.site != a_.site || std::abs(back) >= longest_step) continue;
      const auto& flipped = vertices_between(b_.site, b_.tau, back);
      if (u < std::abs(try_close(flipped)) / opening) {
        mark_flipped(flipped);
        return std::ranges::find(flipped_, 1) != flipped_.end();
      }
    } else if (kind < closing_probability + hop_probability) {
      // Hop to another site
      if (sites == 1) continue;
      const int other = (b_.site + 1 + int(below(word[3], sites - 1))) % sites;
      if (u < std::abs(try_step(other, b_.tau, {}))) step();
    } else {
      // Step in time
      const double by = (2 * unit_interval(word[1]) - 1) * longest_step;
      if (u < std::abs(try_step(b_.site, wrap(b_.tau + by), vertices_between(b_.site, b_.tau, by)))) step();
    }
  }
  return false;
}

std::vector<int> spin_worm::flipped_vertices() const {
  std::vector<int> indices;
  for (std::size_t i = 0; i < flipped_.size(); ++i)
    if (flipped_[i]) indices.push_back(int(i));
  return indices;
}

template <class Real>
void spin_worm::load(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n) {
  const int k = int(vertices.size());
  sites_.resize(k);
  taus_.resize(k);
  forward_.resize(k);
  backward_.resize(k);
  flipped_.assign(k, 0);
  for (int i = 0; i < k; ++i) {
    sites_[i] = vertices[i].site;
    taus_[i] = vertices[i].tau;
  }
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    s.n.reshape(k + 1, k + 1);
    s.strength.resize(k);
    for (int j = 0; j < k; ++j) {
      s.strength[j] = strength_(sigma_of[side], vertices[j].spin);
      const Real* from = n[side]->column(j);
      double* to = s.n.column(j);
      for (int i = 0; i < k; ++i) to[i] = double(from[i]);
    }
  }
}

// D gains a column c, a row r and a corner d: with S = d - r N c the ratio is S, and
// N' = [[N + N c r N / S, -N c / S], [-r N / S, 1 / S]].
double spin_worm::open(int site, double tau) {
  const int k = int(sites_.size());
  a_ = b_ = {site, tau};
  g0_->both_directions(k, sites_.data(), taus_.data(), site, tau, forward_.data(), backward_.data());
  left_.resize(k + 1);
  right_.resize(k + 1);
  double ratio = 1;
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    const double corner = side == up ? -g_equal_ : 1 - g_equal_;  // g(0+) and g(0-) = g(0+) - 1
    std::fill_n(left_.begin(), k, 0.);
    for (int j = 0; j < k; ++j) add(k, -forward_[j], s.n.column(j), left_.data());
    s.border.resize(k + 1);
    for (int j = 0; j < k; ++j) s.border[j] = -backward_[j] * s.strength[j];
    for (int j = 0; j < k; ++j) right_[j] = dot(k, s.border.data(), s.n.column(j));
    const double pivot = corner - dot(k, s.border.data(), left_.data());
    for (int j = 0; j < k; ++j) {
      add(k, right_[j] / pivot, left_.data(), s.n.column(j));
      s.n(k, j) = -right_[j] / pivot;
    }
    for (int i = 0; i < k; ++i) s.n(i, k) = -left_[i] / pivot;
    s.n(k, k) = 1 / pivot;
    ratio *= pivot;
  }
  return ratio;
}

// Ratio of the flips, as in walker::flip_site: det D changes by det B, B = y + N_FF (1 - y).
double spin_worm::try_flips(sector& s, const std::vector<int>& flipped) {
  const int m = int(flipped.size());
  s.y.resize(m);
  s.b_inverse.reshape(m, m);
  for (int j = 0; j < m; ++j) {
    s.y[j] = flip_factor(s.strength[flipped[j]]);
    for (int i = 0; i < m; ++i) s.b_inverse(i, j) = (i == j ? s.y[j] : 0.) + s.n(flipped[i], flipped[j]) * (1 - s.y[j]);
  }
  const linalg::log_det det = linalg::invert(m, s.b_inverse.data(), s.b_inverse.stride());
  return det.sign * std::exp(det.log);
}

// After the flips N' = N - (N - 1)_{:F} (1 - y) B^-1 N_{F:}. Then up has another row of D, down another column.
double spin_worm::try_step(int site, double tau, const std::vector<int>& flipped) {
  const int k = int(sites_.size()), m = int(flipped.size());
  if (m > most_flips) return 0;
  next_ = {site, tau};
  tried_flips_ = flipped;
  g0_->both_directions(k, sites_.data(), taus_.data(), site, tau, forward_.data(), backward_.data());
  double ratio = 1;
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    ratio *= try_flips(s, flipped);
    if (ratio == 0) return 0;
    s.border.resize(k + 1);
    s.worm.resize(k + 1);
    if (side == up) {
      std::copy_n(s.n.column(k), k + 1, s.worm.data());
      for (int p = 0; p < m; ++p) {
        double z = 0;
        for (int q = 0; q < m; ++q) z += s.b_inverse(p, q) * s.n(flipped[q], k);
        z *= 1 - s.y[p];
        add(k + 1, -z, s.n.column(flipped[p]), s.worm.data());
        s.worm[flipped[p]] += z;
      }
      for (int j = 0; j < k; ++j) s.border[j] = -backward_[j] * s.strength[j];
      for (int p = 0; p < m; ++p) s.border[flipped[p]] *= s.y[p];
      s.border[k] = -(*g0_)(site, tau, a_.site, a_.tau);
    } else {
      for (int j = 0; j <= k; ++j) s.worm[j] = s.n(k, j);
      for (int p = 0; p < m; ++p) {
        double z = 0;
        for (int q = 0; q < m; ++q) z += s.n(k, flipped[q]) * (1 - s.y[q]) * s.b_inverse(q, p);
        for (int j = 0; j <= k; ++j) s.worm[j] -= z * s.n(flipped[p], j);
      }
      for (int i = 0; i < k; ++i) s.border[i] = -forward_[i];
      s.border[k] = -(*g0_)(a_.site, a_.tau, site, tau);
    }
    ratio *= dot(k + 1, s.border.data(), s.worm.data());
  }
  return ratio;
}

void spin_worm::apply_flips(sector& s) {
  const int size = s.n.rows(), m = int(tried_flips_.size());
  if (m == 0) return;
  left_.resize(std::size_t(m) * size);
  right_.resize(std::size_t(m) * size);
  for (int p = 0; p < m; ++p) {
    double* left = &left_[std::size_t(p) * size];
    const double* column = s.n.column(tried_flips_[p]);
    for (int i = 0; i < size; ++i) left[i] = (1 - s.y[p]) * column[i];
    left[tried_flips_[p]] -= 1 - s.y[p];
  }
  for (int j = 0; j < size; ++j)
    for (int p = 0; p < m; ++p) {
      double z = 0;
      for (int q = 0; q < m; ++q) z += s.b_inverse(p, q) * s.n(tried_flips_[q], j);
      right_[std::size_t(p) * size + j] = z;
    }
  for (int j = 0; j < size; ++j)
    for (int p = 0; p < m; ++p)
      add(size, -right_[std::size_t(p) * size + j], &left_[std::size_t(p) * size], s.n.column(j));
  for (int p = 0; p < m; ++p) s.strength[tried_flips_[p]] *= s.y[p];
}

// A row of D is replaced by r: N' = N - N_{:w} (r N - e_w) / (r N)_w; a column by c: N' = N - (N c - e_w) N_{w:} /
// (N c)_w.
void spin_worm::step() {
  const int size = int(sites_.size()) + 1, w = size - 1;
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    apply_flips(s);
    left_.resize(size);
    right_.resize(size);
    if (side == up) {
      for (int j = 0; j < size; ++j) right_[j] = dot(size, s.border.data(), s.n.column(j));
      const double pivot = right_[w];
      right_[w] -= 1;
      std::copy_n(s.n.column(w), size, left_.data());
      for (int j = 0; j < size; ++j) add(size, -right_[j] / pivot, left_.data(), s.n.column(j));
    } else {
      std::fill(left_.begin(), left_.end(), 0.);
      for (int j = 0; j < size; ++j) add(size, s.border[j], s.n.column(j), left_.data());
      const double pivot = left_[w];
      left_[w] -= 1;
      for (int j = 0; j < size; ++j) add(size, -s.n(w, j) / pivot, left_.data(), s.n.column(j));
    }
  }
  mark_flipped(tried_flips_);
  b_ = next_;
}

// Without its last row and column D has the determinant times N_ww, here of N after the flips.
double spin_worm::try_close(const std::vector<int>& flipped) {
  if (int(flipped.size()) > most_flips) return 0;
  double ratio = 1;
  for (sector& s : sectors_) ratio *= try_flips(s, flipped) * corner(s, flipped);
  return ratio;
}

double spin_worm::corner(sector& s, const std::vector<int>& flipped) {
  const int w = s.n.rows() - 1, m = int(flipped.size());
  double value = s.n(w, w);
  for (int p = 0; p < m; ++p)
    for (int q = 0; q < m; ++q) value -= s.n(w, flipped[p]) * (1 - s.y[p]) * s.b_inverse(p, q) * s.n(flipped[q], w);
  return value;
}

void spin_worm::mark_flipped(const std::vector<int>& flipped) {
  for (int p : flipped) flipped_[p] ^= 1;
}

const std::vector<int>& spin_worm::vertices_between(int site, double tau, double distance) {
  interval_.clear();
  const double from = distance > 0 ? tau : tau + distance, length = std::abs(distance);
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (sites_[i] == site && wrap(taus_[i] - from) < length) interval_.push_back(int(i));
  return interval_;
}

// Returns tau modulo beta, in [0, beta).
double spin_worm::wrap(double tau) const {
  tau -= parameters_.beta * std::floor(tau / parameters_.beta);
  return tau < parameters_.beta ? tau : 0;
}

template void spin_worm::load<double>(const std::vector<vertex>&, const std::array<const linalg::matrix<double>*, 2>&);
template bool spin_worm::walk<double>(const std::vector<vertex>&, const std::array<const linalg::matrix<double>*, 2>&,
                                      const stream_id&, std::uint64_t, int);
template bool spin_worm::walk<float>(const std::vector<vertex>&, const std::array<const linalg::matrix<float>*, 2>&,
                                     const stream_id&, std::uint64_t, int);

}  // namespace plaq::dca
