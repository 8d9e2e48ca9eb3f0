#include "plaq/dca/measure/correlations.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca {

correlations::correlations(std::shared_ptr<const g0_table> g0, std::vector<int> difference, const stream_id& stream)
    : g0_(std::move(g0)), sites_(g0_->sites()), difference_(std::move(difference)), stream_(stream), sum_(size()) {}

void correlations::accumulate(const sample& s) {
  const int k = s.order(), points = times * sites_;
  const double beta = g0_->beta();
  const auto words = random_words(stream_, s.index);
  double t[times];
  for (int a = 0; a < times; ++a) t[a] = beta * unit_interval(words[a]);

  std::vector<int> sites(k);
  for (int x = 0; x < sites_; ++x) std::fill(sites.begin() + s.first[x], sites.begin() + s.first[x + 1], x);
  to_.reshape(k, points);    // g0(q, jb)
  from_.reshape(k, points);  // g0(ia, p), transposed
  for (int a = 0; a < times; ++a)
    for (int i = 0; i < sites_; ++i) {
      const int point = a * sites_ + i;
      g0_->both_ways(k, sites.data(), s.tau.data(), i, t[a], to_.column(point), from_.column(point));
    }
  half_.reshape(k, points);
  change_.reshape(points, points);
  for (int side = 0; side < 2; ++side) {
    if (k > 0) {
      const auto& m = s.m[side];
      linalg::gemm<float>(false, false, k, points, k, 1, m.data(), m.stride(), to_.data(), to_.stride(), 0,
                          half_.data(), half_.stride());
      linalg::gemm<float>(true, false, points, points, k, 1, from_.data(), from_.stride(), half_.data(), half_.stride(),
                          0, change_.data(), change_.stride());
    }
    auto& g = g_[side];
    g.resize(std::size_t(points) * points);
    for (int a = 0; a < times; ++a)
      for (int i = 0; i < sites_; ++i)
        for (int b = 0; b < times; ++b)
          for (int j = 0; j < sites_; ++j) {
            const int row = a * sites_ + i, column = b * sites_ + j;
            g[row * points + column] = (*g0_)(i, t[a], j, t[b]) + (k > 0 ? double(change_(row, column)) : 0.);
          }
  }

  last_ = {};
  double* const spin = &sum_[2];
  double* const charge = spin + sites_;
  double* const static_spin = charge + sites_;
  double* const static_charge = static_spin + sites_;
  double* const equal_time = static_charge + sites_;
  const double same_weight = s.weight() / (times * sites_);
  const double pair_weight = s.weight() * beta / (times * (times - 1) * sites_);
  for (int a = 0; a < times; ++a)
    for (int i = 0; i < sites_; ++i) {
      const int row = a * sites_ + i;
      const double up = 1 - g_[0][row * points + row], down = 1 - g_[1][row * points + row];
      last_.density += same_weight * (up + down);
      last_.double_occupancy += same_weight * up * down;
      for (int b = 0; b < times; ++b)
        for (int j = 0; j < sites_; ++j) {
          const int column = b * sites_ + j;
          const double n_up = 1 - g_[0][column * points + column], n_down = 1 - g_[1][column * points + column];
          double exchange = 0;
          for (int side = 0; side < 2; ++side) {
            const double there = g_[side][row * points + column];
            const double back = g_[side][column * points + row];
            exchange += a == b ? there * ((i == j ? 1 : 0) - back) : -there * back;
          }
          const double szsz = 0.25 * ((up - down) * (n_up - n_down) + exchange);
          const double nn = (up + down) * (n_up + n_down) + exchange;
          const int R = difference_[i * sites_ + j];
          if (a == b) {
            spin[R] += same_weight * szsz;
            charge[R] += same_weight * nn;
            equal_time[R] += same_weight * 0.5 * (g_[0][row * points + column] + g_[1][row * points + column]);
            last_.spin_square += same_weight * szsz;
            last_.charge_square += same_weight * nn;
          } else {
            static_spin[R] += pair_weight * szsz;
            static_charge[R] += pair_weight * nn;
          }
        }
    }
  sum_[0] += last_.density;
  sum_[1] += last_.double_occupancy;
}

void correlations::flush(std::span<double> out) {
  check(out.size() == size(), "correlations: flush into an array of another size");
  for (std::size_t i = 0; i < sum_.size(); ++i) out[i] += sum_[i];
  std::fill(sum_.begin(), sum_.end(), 0.);
}

}  // namespace plaq::dca
