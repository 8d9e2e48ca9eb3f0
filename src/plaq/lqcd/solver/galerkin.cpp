#include "plaq/lqcd/solver/galerkin.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "plaq/lqcd/solver/multigrid_kernel.hpp"

namespace plaq::lqcd {

namespace {

/// Adds couplings backwards within an aggregate to those forwards, as gamma_5 of the coarse lattice gives them.
void add_reverse(int n, const std::vector<float>& inside, float factor, float* diagonal) {
  const int m = 2 * n;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      const float sign = (i < n) == (j < n) ? 1.f : -1.f;
      diagonal[i * 2 * m + j] = factor * (inside[i * 2 * m + j] + sign * inside[j * 2 * m + i]);
      diagonal[i * 2 * m + m + j] = factor * (inside[i * 2 * m + m + j] - sign * inside[j * 2 * m + m + i]);
    }
}

/// Returns V^+ M V for an operator M with couplings of sites to themselves and to their neighbours. Of a pair of
/// neighbours the product of rows left(slot, mu)^+ ahead(slot, mu, V of the site ahead), times M.factor, is the
/// coupling forwards. M.add_own(a, diagonal) adds the couplings of sites to themselves.
template <class Operator>
coarse_links couplings_of(context& ctx, const transfer& V, const Operator& M) {
  const auto& aggregates = V.aggregates();
  const int n = V.vectors(), m = 2 * n;
  const std::size_t matrix = 2 * std::size_t(m) * m;
  const std::int64_t row = 2 * m, size = V.size_of_slot();
  const auto& box = aggregates.box();
  const auto index_in_face = [&](coordinates x, int mu) {  // index of a site in its aggregate's face
    auto face = box;
    for (int nu = 0; nu < 4; ++nu) x[nu] %= box[nu];
    x[mu] = 0, face[mu] = 1;
    return index_in(x, face);
  };
  // Faces of other ranks' aggregates ahead.
  std::array<std::array<std::vector<float>, neighbours>, 2> received;
  const auto face_size = [&](int mu) { return aggregates.sites() / box[mu] * size; };
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu)
      aggregates.exchange(
          ctx, {2 * mu}, p, std::size_t(face_size(mu)),
          [&](std::int64_t a, float* to) {
            for (auto s = aggregates.slots(a); s < aggregates.slots(a + 1); ++s)
              if (aggregates.site(s)[mu] % box[mu] == 0)
                std::copy_n(V.at(s), size, to + index_in_face(aggregates.site(s), mu) * size);
          },
          received[p]);

  coarse_links links;
  links.diagonal.resize(aggregates.count() * matrix);
  for (auto& ahead : links.ahead) ahead.resize(aggregates.count() * matrix);
  ctx.workers.parallel_for("galerkin", std::size_t(aggregates.count()), [&](std::size_t begin, std::size_t end) {
    std::vector<float> left(aggregates.sites() * M.rows * row), right(left), inside(matrix);
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      std::fill(inside.begin(), inside.end(), 0.f);
      for (int mu = 0; mu < 4; ++mu) {
        float* outside = links.ahead[mu].data() + a * std::int64_t(matrix);
        for (const bool leaves : {false, true}) {
          std::int64_t rows = 0;
          for (auto s = aggregates.slots(a); s < aggregates.slots(a + 1); ++s) {
            const auto& x = aggregates.site(s);
            if ((x[mu] % box[mu] == box[mu] - 1) != leaves) continue;
            const auto there = leaves ? aggregates.neighbour(a, 2 * mu) : a;
            const float* ahead = there >= 0 ? V.at(aggregates.slot(neighbour_of(x, mu, 1, aggregates.local())))
                                            : received[a < aggregates.count(0)][2 * mu].data() +
                                                  (-1 - there) * face_size(mu) + index_in_face(x, mu) * size;
            M.left(s, mu, left.data() + rows * row);
            M.ahead(s, mu, ahead, right.data() + rows * row);
            rows += M.rows;
          }
          add_products(m, rows, left.data(), right.data(), leaves ? outside : inside.data());
        }
        for (std::size_t i = 0; i < matrix; ++i) outside[i] *= M.factor;
      }
      float* diagonal = links.diagonal.data() + a * std::int64_t(matrix);
      add_reverse(n, inside, M.factor, diagonal);
      M.add_own(a, left, right, diagonal);
      for (int i = 0; i < m; ++i) {
        float* own = diagonal + i * row + i;
        if (own[0] == 0 && own[m] == 0) own[0] = 1;  // a vector that was linearly dependent
      }
    }
  });
  return links;
}

/// Wilson operator, for couplings_of().
struct wilson_couplings {
  static constexpr int rows = 6;
  const wilson<float>& M;
  const spinor_slots& slots;
  const transfer& V;
  const float factor = float(-M.parameters().kappa);

  void left(std::int64_t slot, int mu, float* out) const { project_rows(V.vectors(), mu, V.at(slot), nullptr, out); }
  void ahead(std::int64_t slot, int mu, const float* there, float* out) const {
    project_rows(V.vectors(), mu, there, M.link(slots.location(slot), mu).data(), out);
  }
  void add_own(std::int64_t a, std::vector<float>& left, std::vector<float>& right, float* diagonal) const {
    const auto& aggregates = V.aggregates();
    const int n = V.vectors(), m = 2 * n;
    const std::int64_t row = 2 * n;
    std::vector<float> clover_part(row * n);
    for (int c = 0; c < 2; ++c) {
      if (M.has_clover()) {
        std::fill(clover_part.begin(), clover_part.end(), 0.f);
        for (auto s = aggregates.slots(a); s < aggregates.slots(a + 1); ++s) {
          const auto i = (s - aggregates.slots(a)) * 6 * row;
          std::copy_n(V.at(s) + 6 * c * row, 6 * row, left.data() + i);
          multiply_rows(n, M.clover_block(slots.location(s), c).data(), left.data() + i, right.data() + i);
        }
        add_products(n, 6 * aggregates.sites(), left.data(), right.data(), clover_part.data());
      }
      for (int i = 0; i < n; ++i) {
        float* to = diagonal + (c * n + i) * 2 * m + c * n;
        for (int j = 0; M.has_clover() && j < n; ++j)
          to[j] += clover_part[i * row + j], to[m + j] += clover_part[i * row + n + j];
        if (!M.has_clover()) {
          to[i] += 1;
          to[m + i] += float((c ? -2 : 2) * M.parameters().kappa * M.parameters().mu);
        }
      }
    }
  }
};

/// Coarse matrix, for couplings_of(). Each chirality of V is written to columns of its own, with zeros in the others.
struct coarse_couplings {
  static constexpr float factor = 1;
  const coarse_links& M;
  const aggregation& sites;
  const transfer& V;
  const int rows = V.rows();

  void left(std::int64_t slot, int, float* out) const { spread(V.at(slot), out); }
  void ahead(std::int64_t slot, int mu, const float* there, float* out) const {
    multiply(M.ahead[mu], slot, there, out);
  }
  void add_own(std::int64_t a, std::vector<float>& left, std::vector<float>& right, float* diagonal) const {
    const auto& aggregates = V.aggregates();
    const std::int64_t size = std::int64_t(rows) * 2 * rows;
    for (auto s = aggregates.slots(a); s < aggregates.slots(a + 1); ++s) {
      const auto i = (s - aggregates.slots(a)) * size;
      spread(V.at(s), left.data() + i);
      multiply(M.diagonal, s, V.at(s), right.data() + i);
    }
    add_products(rows, aggregates.sites() * rows, left.data(), right.data(), diagonal);
  }

 private:
  void spread(const float* from, float* out) const {
    const int n = rows / 2;
    std::fill_n(out, rows * 2 * rows, 0.f);
    for (int i = 0; i < rows; ++i)
      for (const int part : {0, 1}) std::copy_n(from + (2 * i + part) * n, n, out + (2 * i + part) * rows + i / n * n);
  }
  /// Computes out = A V of the matrix A of a slot.
  void multiply(const std::vector<float>& matrices, std::int64_t slot, const float* v, float* out) const {
    const std::int64_t m = rows, size = 2 * m * m;
    const float* A = matrices.data() + sites.aggregate(V.aggregates().site(slot)) * size;
    std::vector<float> adjoint(size), spread_v(size);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        adjoint[j * 2 * m + i] = A[i * 2 * m + j], adjoint[j * 2 * m + m + i] = -A[i * 2 * m + m + j];
    spread(v, spread_v.data());
    std::fill_n(out, size, 0.f);
    add_products(rows, rows, adjoint.data(), spread_v.data(), out);
  }
};

}  // namespace

coarse_links galerkin(context& ctx, const wilson<float>& M, const spinor_slots& slots, const transfer& V) {
  return couplings_of(ctx, V, wilson_couplings{M, slots, V});
}

coarse_links galerkin(context& ctx, const coarse_links& M, const aggregation& sites, const transfer& V) {
  return couplings_of(ctx, V, coarse_couplings{M, sites, V});
}

}  // namespace plaq::lqcd
