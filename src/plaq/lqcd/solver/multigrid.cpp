#include "plaq/lqcd/solver/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/galerkin.hpp"

namespace plaq::lqcd {

namespace {

/// Rounds and steps of the smoother for the first test vectors.
constexpr int first_rounds = 3, first_steps = 12;

std::vector<std::shared_ptr<const aggregation>> make_partitions(const wilson<float>& M,
                                                                const multigrid_options& options) {
  const auto& cycle = options.cycle;
  if (options.vectors < 16 || options.vectors % 16 || options.rounds < 0 || cycle.smoothing < 1 ||
      cycle.coarse_steps < 1 || !(cycle.coarse_residual > 0 && cycle.coarse_residual < 1))
    throw input_error(
        "multigrid needs a multiple of 16 vectors, rounds >= 0, steps >= 1 and a coarse residual between 0 and 1");
  const auto& on = M.layout()->lattice();
  std::vector<std::shared_ptr<const aggregation>> partitions;
  for (const auto& box : options.boxes.empty() ? std::vector{choose_aggregates(on.extents)} : options.boxes)
    partitions.push_back(partitions.empty() ? std::make_shared<aggregation>(on, box)
                                            : std::make_shared<aggregation>(*partitions.back(), box));
  return partitions;
}

}  // namespace

multigrid::multigrid(context& ctx, wilson<float>& M, const multigrid_options& options)
    : ctx_(ctx),
      M_(M),
      options_(options),
      partitions_(make_partitions(M, options)),
      slots_(std::make_shared<spinor_slots>(M.layout(), *partitions_[0])),
      V_(partitions_[0], 12, options.vectors),
      numbers_(V_.field()),
      residual_(M.layout(), sites::odd) {
  tests_.assign(options_.vectors, residual_);
  spinors<float> r(residual_);
  for (int j = 0; j < options_.vectors; ++j) {
    gaussian(tests_[j], spinor_stream{1, std::uint32_t(j), 0, random_purpose::test_vectors});
    for (int i = 0; i < first_rounds; ++i) {
      r = tests_[j];
      combine<float>(ctx_, tests_[j], {{0, r}});
      gcr(ctx_, tests_[j], r, smoother_, first_steps, 0,
          [&](auto& z, auto& Mz, const auto& left) { z = left, M_.apply_odd(Mz, left); });
      normalise(tests_[j]);
    }
  }
  build();
  improve(options_.rounds);
}

multigrid::multigrid(context& ctx, wilson<float>& M, const multigrid_options& options,
                     std::vector<spinors<float>> tests)
    : ctx_(ctx),
      M_(M),
      options_(options),
      partitions_(make_partitions(M, options)),
      slots_(std::make_shared<spinor_slots>(M.layout(), *partitions_[0])),
      tests_(std::move(tests)),
      V_(partitions_[0], 12, options.vectors),
      numbers_(V_.field()),
      residual_(M.layout(), sites::odd) {
  if (int(tests_.size()) != options.vectors)
    throw input_error("multigrid with " + std::to_string(options.vectors) + " test vectors was given " +
                      std::to_string(tests_.size()));
  build();
}

multigrid::multigrid(context& ctx, wilson<float>& M, const multigrid& similar)
    : ctx_(ctx),
      M_(M),
      options_(similar.options_),
      partitions_(similar.partitions_),
      slots_(similar.slots_),
      tests_(similar.tests_),
      V_(partitions_[0], 12, options_.vectors),
      numbers_(V_.field()),
      residual_(M.layout(), sites::odd) {
  build();
}

void multigrid::normalise(spinors<float>& v) { combine<float>(ctx_, v, {{float(1 / std::sqrt(norm2(ctx_, v))), v}}); }

void multigrid::improve(int rounds) {
  spinors<float> z(residual_), w(residual_);
  for (int i = 0; i < rounds; ++i) {
    for (auto& v : tests_) {
      precondition(z, w, v);
      v = z;
      normalise(v);
    }
    build();
  }
}

void multigrid::build() {
  spinors<float> all(M_.layout()), zero(M_.layout());
  const auto on_all_sites = [&](const spinors<float>& odd) -> const spinors<float>& {
    std::copy_n(odd.data(), odd.size(), all.of(1));
    M_.complete(all, zero);  // even sites follow from odd ones if M v is small
    return all;
  };
  for (int j = 0; j < options_.vectors; ++j) {
    slots_->gather(ctx_, on_all_sites(tests_[j]), numbers_);
    V_.set_column(ctx_, j, numbers_);
  }
  V_.orthonormalise(ctx_);
  std::vector<coarse_vector> tests;
  for (const auto& v : tests_) tests.push_back(restrict(on_all_sites(v)));
  below_.reset();
  below_.emplace(ctx_, partitions_, galerkin(ctx_, M_, *slots_, V_), tests, options_.cycle);
}

coarse_vector multigrid::restrict(const spinors<float>& f) {
  slots_->gather(ctx_, f, numbers_);
  return V_.restrict(ctx_, numbers_, f.subset() == sites::odd);
}

void multigrid::prolong(spinors<float>& f, const coarse_vector& c) {
  V_.prolong(ctx_, numbers_, c, f.subset() == sites::odd);
  slots_->scatter(ctx_, numbers_, f);
}

void multigrid::precondition(spinors<float>& z, spinors<float>& w, const spinors<float>& r, bool dagger) {
  if (dagger) {
    spinors<float> rotated(r);
    combine<float>(ctx_, rotated, {linear_term<float>::gamma5(r)});
    precondition(z, w, rotated);
    combine<float>(ctx_, z, {linear_term<float>::gamma5(z)});
    M_.apply_odd(w, z, true);
    return;
  }
  const auto coarse_r = restrict(r);
  auto e = below_->matrix().vector();
  below_->solve(e, coarse_r);
  prolong(z, e);
  M_.apply_odd(w, z);
  combine<float>(ctx_, residual_, {{1, r}, {-1, w}});
  gcr(ctx_, z, residual_, smoother_, options_.cycle.smoothing, 0,
      [&](auto& d, auto& Md, const auto& left) { d = left, M_.apply_odd(Md, left); });
  combine<float>(ctx_, w, {{1, r}, {-1, residual_}});
}

}  // namespace plaq::lqcd
