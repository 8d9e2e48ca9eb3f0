#include "plaq/dca/measure/green_at_times.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/random.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca {

green_at_times::green_at_times(std::shared_ptr<const g0_table> g0) : g0_(std::move(g0)), sites_(g0_->sites()) {}

void green_at_times::evaluate(const sample& s, const std::array<std::uint64_t, times>& words) {
  const int k = s.order(), points = this->points();
  double t[times];
  for (int a = 0; a < times; ++a) t[a] = beta() * unit_interval(words[a]);

  std::vector<int> sites(k);
  for (int x = 0; x < sites_; ++x) std::fill(sites.begin() + s.first[x], sites.begin() + s.first[x + 1], x);
  to_.reshape(k, points);    // g0(q, jb)
  from_.reshape(k, points);  // g0(ia, p), transposed
  for (int a = 0; a < times; ++a)
    for (int i = 0; i < sites_; ++i) {
      const int point = a * sites_ + i;
      g0_->both_directions(k, sites.data(), s.tau.data(), i, t[a], to_.column(point), from_.column(point));
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
  apply_wick();
}

void green_at_times::apply_wick() {
  const int points = this->points();
  for (int side = 0; side < 2; ++side) {
    occupation_[side].resize(points);
    for (int point = 0; point < points; ++point) occupation_[side][point] = 1 - g_[side][point * points + point];
  }
  for (auto& values : product_) values.resize(std::size_t(points) * points);
  const auto set = [&](int row, int column, double exchange) {
    const double up = occupation_[0][row], down = occupation_[1][row];
    const double n_up = occupation_[0][column], n_down = occupation_[1][column];
    const std::size_t at = std::size_t(row) * points + column, mirrored = std::size_t(column) * points + row;
    product_[0][at] = product_[0][mirrored] = 0.25 * ((up - down) * (n_up - n_down) + exchange);
    product_[1][at] = product_[1][mirrored] = (up + down) * (n_up + n_down) + exchange;
  };
  for (int row = 0; row < points; ++row) {
    for (int column = 0; column < row; ++column) {
      double exchange = 0;
      for (int side = 0; side < 2; ++side)
        exchange -= g_[side][row * points + column] * g_[side][column * points + row];
      set(row, column, exchange);
    }
    double exchange = 0;
    for (int side = 0; side < 2; ++side) exchange += g_[side][row * points + row] * occupation_[side][row];
    set(row, row, exchange);
  }
}

}  // namespace plaq::dca
