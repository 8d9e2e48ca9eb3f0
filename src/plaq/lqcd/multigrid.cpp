#include "plaq/lqcd/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/multigrid_kernel.hpp"
#include "plaq/lqcd/random_fields.hpp"

namespace plaq::lqcd {

namespace {

/// Of the smoother, for the first test vectors.
constexpr int first_rounds = 3, first_steps = 12;

std::shared_ptr<const aggregates> cut(const wilson<float>& M, const multigrid_options& how) {
  if (how.vectors < 16 || how.vectors % 16 || how.rounds < 0 || how.smoothing < 1 || how.coarse_steps < 1 ||
      !(how.coarse_residual > 0 && how.coarse_residual < 1))
    throw input_error("multigrid needs a multiple of 16 vectors, rounds that are not negative, and steps");
  const bool chosen = how.box != coordinates{0, 0, 0, 0};
  return std::make_shared<aggregates>(M.where(), chosen ? how.box : aggregates_for(M.where()->on().extents));
}

}  // namespace

multigrid::multigrid(engine& by, wilson<float>& M, const multigrid_options& how)
    : by_(by), M_(M), how_(how), on_(cut(M, how)), residual_(M.where(), sites::odd) {
  const std::size_t slots = on_->count() * on_->sites();
  V_.resize(slots * 24 * how_.vectors), numbers_.resize(slots * 24);
  std::vector<spinors<float>> odd(how_.vectors, residual_);
  spinors<float> r(residual_), w(residual_);
  const auto normalise = [&](spinors<float>& v) { combine<float>(by_, v, {{float(1 / std::sqrt(norm2(by_, v))), v}}); };
  for (int j = 0; j < how_.vectors; ++j) {
    gaussian(odd[j], spinor_stream{1, std::uint32_t(j), 0, draws::test_vectors});
    for (int i = 0; i < first_rounds; ++i) {
      r = odd[j];
      combine<float>(by_, odd[j], {{0, r}});
      gcr(by_, odd[j], r, smoother_, first_steps, 0,
          [&](auto& z, auto& Mz, const auto& left) { z = left, M_.apply_odd(Mz, left); });
      normalise(odd[j]);
    }
  }
  build(odd);
  for (int i = 0; i < how_.rounds; ++i) {
    for (auto& v : odd) {
      precondition(r, w, v);
      v = r;
      normalise(v);
    }
    build(odd);
  }
}

void multigrid::build(const std::vector<spinors<float>>& odd) {
  const int n = how_.vectors;
  spinors<float> all(M_.where()), zero(M_.where());
  for (int j = 0; j < n; ++j) {
    // Where M v is small, even sites follow from odd ones.
    std::copy_n(odd[j].data(), odd[j].size(), all.of(1));
    M_.complete(all, zero);
    on_->gather(by_, all, numbers_);
    by_.hands.each("test vectors", std::size_t(on_->count()), [&](std::size_t begin, std::size_t end) {
      const std::int64_t first = on_->slots(std::int64_t(begin)) * 12, last = on_->slots(std::int64_t(end)) * 12;
      for (std::int64_t i = first; i < last; ++i)
        V_[2 * n * i + j] = numbers_[2 * i], V_[2 * n * i + n + j] = numbers_[2 * i + 1];
    });
  }
  by_.hands.each("orthonormalise", std::size_t(on_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a)
      orthonormalise(n, on_->sites(), V_.data() + on_->slots(a) * 24 * n);
  });
  coarse_.reset();
  coarse_.emplace(by_, on_, 2 * n, galerkin());
}

coarse_links multigrid::galerkin() {
  const int n = how_.vectors, m = 2 * n;
  const std::size_t matrix = 2 * std::size_t(m) * m, row = 2 * n;
  const float kappa = float(M_.parameters().kappa);
  const auto& box = on_->box();
  const auto local = on_->where()->on().local();
  const auto V = [&](std::int64_t slot) { return V_.data() + slot * 12 * std::int64_t(row); };
  const auto within = [&](coordinates x, int mu) {  // the number of a site in its aggregate's face
    auto face = box;
    for (int nu = 0; nu < 4; ++nu) x[nu] %= box[nu];
    x[mu] = 0, face[mu] = 1;
    return number_in(x, face);
  };
  // The faces of other ranks' aggregates that are ahead.
  std::array<std::array<std::vector<float>, neighbours>, 2> came;
  const auto face_size = [&](int mu) { return std::size_t(on_->sites() / box[mu]) * 12 * row; };
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu)
      on_->exchange(
          by_, {2 * mu}, p, face_size(mu),
          [&](std::int64_t a, float* to) {
            for (auto s = on_->slots(a); s < on_->slots(a + 1); ++s)
              if (on_->site(s)[mu] % box[mu] == 0)
                std::copy_n(V(s), 12 * row, to + within(on_->site(s), mu) * 12 * std::int64_t(row));
          },
          came[p]);

  coarse_links links;
  links.here.resize(on_->count() * matrix);
  for (auto& ahead : links.ahead) ahead.resize(on_->count() * matrix);
  by_.hands.each("galerkin", std::size_t(on_->count()), [&](std::size_t begin, std::size_t end) {
    std::vector<float> left(on_->sites() * 12 * row), right(left), inside(matrix), block(row * n);
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      std::fill(inside.begin(), inside.end(), 0.f);
      for (int mu = 0; mu < 4; ++mu) {
        float* outside = links.ahead[mu].data() + a * std::int64_t(matrix);
        for (const bool leaves : {false, true}) {
          std::int64_t rows = 0;
          for (auto s = on_->slots(a); s < on_->slots(a + 1); ++s) {
            const auto& x = on_->site(s);
            if ((x[mu] % box[mu] == box[mu] - 1) != leaves) continue;
            const auto there = leaves ? on_->neighbour(a, 2 * mu) : a;
            const float* ahead =
                there >= 0 ? V(on_->slot(moved(x, mu, 1, local)))
                           : came[a < on_->count(0)][2 * mu].data() +
                                 ((-1 - there) * std::int64_t(face_size(mu)) + within(x, mu) * 12 * std::int64_t(row));
            const auto u = M_.link(on_->place(s), mu);
            project_rows(n, mu, V(s), nullptr, left.data() + rows * 2 * m);
            project_rows(n, mu, ahead, u.data(), right.data() + rows * 2 * m);
            rows += 6;
          }
          add_products(m, rows, left.data(), right.data(), leaves ? outside : inside.data());
        }
        for (std::size_t i = 0; i < matrix; ++i) outside[i] *= -kappa;
      }
      // What leads back inside, and what stays on its site.
      float* here = links.here.data() + a * std::int64_t(matrix);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          const float sign = (i < n) == (j < n) ? 1.f : -1.f;
          here[i * 2 * m + j] = -kappa * (inside[i * 2 * m + j] + sign * inside[j * 2 * m + i]);
          here[i * 2 * m + m + j] = -kappa * (inside[i * 2 * m + m + j] - sign * inside[j * 2 * m + m + i]);
        }
      for (int c = 0; c < 2; ++c) {
        if (M_.has_clover()) {
          std::fill(block.begin(), block.end(), 0.f);
          for (auto s = on_->slots(a); s < on_->slots(a + 1); ++s) {
            const auto i = (s - on_->slots(a)) * 6 * std::int64_t(row);
            std::copy_n(V(s) + 6 * c * row, 6 * row, left.data() + i);
            multiply_rows(n, M_.clover_block(on_->place(s), c).data(), left.data() + i, right.data() + i);
          }
          add_products(n, 6 * on_->sites(), left.data(), right.data(), block.data());
        }
        for (int i = 0; i < n; ++i) {
          float* to = here + (c * n + i) * 2 * m + c * n;
          for (int j = 0; M_.has_clover() && j < n; ++j)
            to[j] += block[i * row + j], to[m + j] += block[i * row + n + j];
          if (!M_.has_clover()) {
            to[i] += 1;
            to[m + i] += float((c ? -2 : 2) * M_.parameters().kappa * M_.parameters().mu);
          }
          if (to[i] == 0 && to[m + i] == 0) to[i] = 1;  // a vector that depended on others
        }
      }
    }
  });
  return links;
}

coarse_vector multigrid::restricted(const spinors<float>& f) {
  on_->gather(by_, f, numbers_);
  auto out = coarse_->vector();
  by_.hands.each("restrict", std::size_t(on_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      const auto first = f.which() == sites::odd ? on_->odd_slots(a) : on_->slots(a);
      restrict_to(how_.vectors, on_->slots(a + 1) - first, V_.data() + first * 24 * how_.vectors,
                  numbers_.data() + first * 24, out.row(a));
    }
  });
  return out;
}

void multigrid::prolong(spinors<float>& f, const coarse_vector& c) {
  by_.hands.each("prolong", std::size_t(on_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      const auto first = f.which() == sites::odd ? on_->odd_slots(a) : on_->slots(a);
      prolong_from(how_.vectors, on_->slots(a + 1) - first, V_.data() + first * 24 * how_.vectors, c.row(a),
                   numbers_.data() + first * 24);
    }
  });
  on_->scatter(by_, numbers_, f);
}

void multigrid::precondition(spinors<float>& z, spinors<float>& w, const spinors<float>& r) {
  const auto coarse_r = restricted(r);
  auto e = coarse_->vector();
  coarse_->solve(e, coarse_r, how_.coarse_residual, how_.coarse_steps);
  prolong(z, e);
  M_.apply_odd(w, z);
  combine<float>(by_, residual_, {{1, r}, {-1, w}});
  gcr(by_, z, residual_, smoother_, how_.smoothing, 0,
      [&](auto& d, auto& Md, const auto& left) { d = left, M_.apply_odd(Md, left); });
  combine<float>(by_, w, {{1, r}, {-1, residual_}});
}

}  // namespace plaq::lqcd
