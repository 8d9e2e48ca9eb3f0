#include "plaq/lqcd/solver/coarse_level.hpp"

#include <algorithm>

#include "plaq/lqcd/solver/galerkin.hpp"

namespace plaq::lqcd {

coarse_level::coarse_level(context& ctx, std::span<const std::shared_ptr<const aggregation>> partitions,
                           const coarse_links& links, const std::vector<coarse_vector>& tests,
                           const cycle_options& options)
    : ctx_(ctx), sites_(partitions[0]), options_(options), matrix_(ctx, sites_, tests[0].size, links) {
  if (partitions.size() == 1) return;
  const int n = int(tests.size());
  V_.emplace(partitions[1], 2 * n, n);
  numbers_ = V_->field();
  for (int j = 0; j < n; ++j) {
    gather(tests[j], 0);
    V_->set_column(ctx_, j, numbers_);
  }
  V_->orthonormalise(ctx_);
  std::vector<coarse_vector> tests_below;
  for (const auto& v : tests) tests_below.push_back(restrict(v));
  below_ = std::make_unique<coarse_level>(ctx_, partitions.subspan(1), galerkin(ctx_, links, *sites_, *V_), tests_below,
                                          options_);
}

void coarse_level::gather(const coarse_vector& f, std::int64_t first) {
  const auto& aggregates = V_->aggregates();
  const std::int64_t m = f.size, sites = aggregates.sites();
  ctx_.workers.parallel_for("gather", std::size_t(aggregates.count()), [&](std::size_t begin, std::size_t end) {
    for (auto s = std::int64_t(begin) * sites; s < std::int64_t(end) * sites; ++s) {
      const auto i = sites_->aggregate(aggregates.site(s)) - first;
      if (i < 0) continue;
      const float* from = f.row(i);
      for (std::int64_t k = 0; k < m; ++k)
        numbers_[2 * (s * m + k)] = from[k], numbers_[2 * (s * m + k) + 1] = from[m + k];
    }
  });
}

void coarse_level::scatter(coarse_vector& f, std::int64_t first) const {
  const auto& aggregates = V_->aggregates();
  const std::int64_t m = f.size, sites = aggregates.sites();
  ctx_.workers.parallel_for("scatter", std::size_t(aggregates.count()), [&](std::size_t begin, std::size_t end) {
    for (auto s = std::int64_t(begin) * sites; s < std::int64_t(end) * sites; ++s) {
      const auto i = sites_->aggregate(aggregates.site(s)) - first;
      if (i < 0) continue;
      float* to = f.row(i);
      for (std::int64_t k = 0; k < m; ++k) to[k] = numbers_[2 * (s * m + k)], to[m + k] = numbers_[2 * (s * m + k) + 1];
    }
  });
}

coarse_vector coarse_level::restrict(const coarse_vector& f) {
  gather(f, 0);
  return V_->restrict(ctx_, numbers_, false);
}

void coarse_level::prolong(coarse_vector& f, const coarse_vector& c) {
  V_->prolong(ctx_, numbers_, c, false);
  scatter(f, 0);
}

int coarse_level::solve(coarse_vector& x, const coarse_vector& b) {
  const auto next = [&](coarse_vector& z, coarse_vector& w, const coarse_vector& r) {
    if (below_) return precondition(z, w, r);
    z = r;
    matrix_.apply_odd(w, z);
  };
  return matrix_.solve(x, b, options_.coarse_residual, options_.coarse_steps, next);
}

void coarse_level::precondition(coarse_vector& z, coarse_vector& w, const coarse_vector& r) {
  const auto first = sites_->first(1);
  auto left = matrix_.odd_vector();
  matrix_.multiply_odd(left, r);
  gather(left, first);
  const auto b = V_->restrict(ctx_, numbers_, true);
  auto e = below_->matrix().vector();
  below_->solve(e, b);
  V_->prolong(ctx_, numbers_, e, true);
  scatter(z, first);
  matrix_.apply_odd(w, z);
  left = r;
  add(ctx_, left, -1, w);
  gcr(ctx_, z, left, smoother_, options_.smoothing, 0, [&](auto& d, auto& Md, const auto& residual) {
    d = residual;
    matrix_.apply_odd(Md, d);
  });
  w = r;
  add(ctx_, w, -1, left);
}

}  // namespace plaq::lqcd
