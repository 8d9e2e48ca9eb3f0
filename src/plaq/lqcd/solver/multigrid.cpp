#include "plaq/lqcd/solver/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/multigrid_kernel.hpp"

namespace plaq::lqcd {

namespace {

/// Rounds and steps of the smoother for the first test vectors.
constexpr int first_rounds = 3, first_steps = 12;

std::shared_ptr<const aggregation> make_aggregates(const wilson<float>& M, const multigrid_options& options) {
  if (options.vectors < 16 || options.vectors % 16 || options.rounds < 0 || options.smoothing < 1 ||
      options.coarse_steps < 1 || !(options.coarse_residual > 0 && options.coarse_residual < 1))
    throw input_error(
        "multigrid needs a multiple of 16 vectors, rounds >= 0, steps >= 1 and a coarse residual between 0 and 1");
  const bool chosen = options.box != coordinates{0, 0, 0, 0};
  return std::make_shared<aggregation>(M.layout(),
                                       chosen ? options.box : choose_aggregates(M.layout()->lattice().extents));
}

}  // namespace

multigrid::multigrid(context& ctx, wilson<float>& M, const multigrid_options& options)
    : ctx_(ctx), M_(M), options_(options), aggregates_(make_aggregates(M, options)), residual_(M.layout(), sites::odd) {
  const std::size_t slots = aggregates_->count() * aggregates_->sites();
  V_.resize(slots * 24 * options_.vectors), numbers_.resize(slots * 24);
  tests_.assign(options_.vectors, residual_);
  spinors<float> r(residual_), w(residual_);
  const auto normalise = [&](spinors<float>& v) {
    combine<float>(ctx_, v, {{float(1 / std::sqrt(norm2(ctx_, v))), v}});
  };
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
  for (int i = 0; i < options_.rounds; ++i) {
    for (auto& v : tests_) {
      precondition(r, w, v);
      v = r;
      normalise(v);
    }
    build();
  }
}

multigrid::multigrid(context& ctx, wilson<float>& M, const multigrid& similar)
    : ctx_(ctx),
      M_(M),
      options_(similar.options_),
      aggregates_(similar.aggregates_),
      tests_(similar.tests_),
      V_(similar.V_.size()),
      numbers_(similar.numbers_.size()),
      residual_(M.layout(), sites::odd) {
  build();
}

void multigrid::build() {
  const int n = options_.vectors;
  spinors<float> all(M_.layout()), zero(M_.layout());
  for (int j = 0; j < n; ++j) {
    // Even sites follow from odd ones if M v is small.
    std::copy_n(tests_[j].data(), tests_[j].size(), all.of(1));
    M_.complete(all, zero);
    aggregates_->gather(ctx_, all, numbers_);
    ctx_.workers.parallel_for("test vectors", std::size_t(aggregates_->count()),
                              [&](std::size_t begin, std::size_t end) {
                                const std::int64_t first = aggregates_->slots(std::int64_t(begin)) * 12,
                                                   last = aggregates_->slots(std::int64_t(end)) * 12;
                                for (std::int64_t i = first; i < last; ++i)
                                  V_[2 * n * i + j] = numbers_[2 * i], V_[2 * n * i + n + j] = numbers_[2 * i + 1];
                              });
  }
  ctx_.workers.parallel_for("orthonormalise", std::size_t(aggregates_->count()),
                            [&](std::size_t begin, std::size_t end) {
                              for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a)
                                orthonormalise(n, aggregates_->sites(), V_.data() + aggregates_->slots(a) * 24 * n);
                            });
  coarse_.reset();
  coarse_.emplace(ctx_, aggregates_, 2 * n, galerkin());
}

coarse_links multigrid::galerkin() {
  const int n = options_.vectors, m = 2 * n;
  const std::size_t matrix = 2 * std::size_t(m) * m, row = 2 * n;
  const float kappa = float(M_.parameters().kappa);
  const auto& box = aggregates_->box();
  const auto local = aggregates_->layout()->lattice().local();
  const auto V = [&](std::int64_t slot) { return V_.data() + slot * 12 * std::int64_t(row); };
  const auto index_in_face = [&](coordinates x, int mu) {  // index of a site in its aggregate's face
    auto face = box;
    for (int nu = 0; nu < 4; ++nu) x[nu] %= box[nu];
    x[mu] = 0, face[mu] = 1;
    return index_in(x, face);
  };
  // Faces of other ranks' aggregates ahead.
  std::array<std::array<std::vector<float>, neighbours>, 2> received;
  const auto face_size = [&](int mu) { return std::size_t(aggregates_->sites() / box[mu]) * 12 * row; };
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu)
      aggregates_->exchange(
          ctx_, {2 * mu}, p, face_size(mu),
          [&](std::int64_t a, float* to) {
            for (auto s = aggregates_->slots(a); s < aggregates_->slots(a + 1); ++s)
              if (aggregates_->site(s)[mu] % box[mu] == 0)
                std::copy_n(V(s), 12 * row, to + index_in_face(aggregates_->site(s), mu) * 12 * std::int64_t(row));
          },
          received[p]);

  coarse_links links;
  links.diagonal.resize(aggregates_->count() * matrix);
  for (auto& ahead : links.ahead) ahead.resize(aggregates_->count() * matrix);
  ctx_.workers.parallel_for("galerkin", std::size_t(aggregates_->count()), [&](std::size_t begin, std::size_t end) {
    std::vector<float> left(aggregates_->sites() * 12 * row), right(left), inside(matrix), clover_part(row * n);
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      std::fill(inside.begin(), inside.end(), 0.f);
      for (int mu = 0; mu < 4; ++mu) {
        float* outside = links.ahead[mu].data() + a * std::int64_t(matrix);
        for (const bool leaves : {false, true}) {
          std::int64_t rows = 0;
          for (auto s = aggregates_->slots(a); s < aggregates_->slots(a + 1); ++s) {
            const auto& x = aggregates_->site(s);
            if ((x[mu] % box[mu] == box[mu] - 1) != leaves) continue;
            const auto there = leaves ? aggregates_->neighbour(a, 2 * mu) : a;
            const float* ahead =
                there >= 0
                    ? V(aggregates_->slot(neighbour_of(x, mu, 1, local)))
                    : received[a < aggregates_->count(0)][2 * mu].data() +
                          ((-1 - there) * std::int64_t(face_size(mu)) + index_in_face(x, mu) * 12 * std::int64_t(row));
            const auto u = M_.link(aggregates_->location(s), mu);
            project_rows(n, mu, V(s), nullptr, left.data() + rows * 2 * m);
            project_rows(n, mu, ahead, u.data(), right.data() + rows * 2 * m);
            rows += 6;
          }
          add_products(m, rows, left.data(), right.data(), leaves ? outside : inside.data());
        }
        for (std::size_t i = 0; i < matrix; ++i) outside[i] *= -kappa;
      }
      // Couplings backwards within the aggregate, then those of a site to itself.
      float* diagonal = links.diagonal.data() + a * std::int64_t(matrix);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          const float sign = (i < n) == (j < n) ? 1.f : -1.f;
          diagonal[i * 2 * m + j] = -kappa * (inside[i * 2 * m + j] + sign * inside[j * 2 * m + i]);
          diagonal[i * 2 * m + m + j] = -kappa * (inside[i * 2 * m + m + j] - sign * inside[j * 2 * m + m + i]);
        }
      for (int c = 0; c < 2; ++c) {
        if (M_.has_clover()) {
          std::fill(clover_part.begin(), clover_part.end(), 0.f);
          for (auto s = aggregates_->slots(a); s < aggregates_->slots(a + 1); ++s) {
            const auto i = (s - aggregates_->slots(a)) * 6 * std::int64_t(row);
            std::copy_n(V(s) + 6 * c * row, 6 * row, left.data() + i);
            multiply_rows(n, M_.clover_block(aggregates_->location(s), c).data(), left.data() + i, right.data() + i);
          }
          add_products(n, 6 * aggregates_->sites(), left.data(), right.data(), clover_part.data());
        }
        for (int i = 0; i < n; ++i) {
          float* to = diagonal + (c * n + i) * 2 * m + c * n;
          for (int j = 0; M_.has_clover() && j < n; ++j)
            to[j] += clover_part[i * row + j], to[m + j] += clover_part[i * row + n + j];
          if (!M_.has_clover()) {
            to[i] += 1;
            to[m + i] += float((c ? -2 : 2) * M_.parameters().kappa * M_.parameters().mu);
          }
          if (to[i] == 0 && to[m + i] == 0) to[i] = 1;  // a vector that was linearly dependent
        }
      }
    }
  });
  return links;
}

coarse_vector multigrid::restrict(const spinors<float>& f) {
  aggregates_->gather(ctx_, f, numbers_);
  auto out = coarse_->vector();
  ctx_.workers.parallel_for("restrict", std::size_t(aggregates_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      const auto first = f.subset() == sites::odd ? aggregates_->odd_slots(a) : aggregates_->slots(a);
      restrict_to(options_.vectors, aggregates_->slots(a + 1) - first, V_.data() + first * 24 * options_.vectors,
                  numbers_.data() + first * 24, out.row(a));
    }
  });
  return out;
}

void multigrid::prolong(spinors<float>& f, const coarse_vector& c) {
  ctx_.workers.parallel_for("prolong", std::size_t(aggregates_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      const auto first = f.subset() == sites::odd ? aggregates_->odd_slots(a) : aggregates_->slots(a);
      prolong_from(options_.vectors, aggregates_->slots(a + 1) - first, V_.data() + first * 24 * options_.vectors,
                   c.row(a), numbers_.data() + first * 24);
    }
  });
  aggregates_->scatter(ctx_, numbers_, f);
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
  auto e = coarse_->vector();
  coarse_->solve(e, coarse_r, options_.coarse_residual, options_.coarse_steps);
  prolong(z, e);
  M_.apply_odd(w, z);
  combine<float>(ctx_, residual_, {{1, r}, {-1, w}});
  gcr(ctx_, z, residual_, smoother_, options_.smoothing, 0,
      [&](auto& d, auto& Md, const auto& left) { d = left, M_.apply_odd(Md, left); });
  combine<float>(ctx_, w, {{1, r}, {-1, residual_}});
}

}  // namespace plaq::lqcd
