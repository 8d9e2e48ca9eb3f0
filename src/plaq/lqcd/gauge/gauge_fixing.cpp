#include "plaq/lqcd/gauge/gauge_fixing.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/subgroups.hpp"

namespace plaq::lqcd {

namespace {

constexpr int check_every = 10;  // sweeps

/// Links that end at the sites of a parity, U_mu(x - mu) for each direction that counts.
class ending_links {
 public:
  ending_links(const links<double>& u, int lowest) : u_(u), lowest_(lowest), ending_(4, matrices(u.shared_layout())) {}

  void gather(context& ctx, int parity) {
    for (int mu = lowest_; mu < 4; ++mu) shift(ctx, parity, view(ending_[mu]), view(u_, mu), mu, -1);
  }

  /// Returns w(x), the sum of U_mu(x) + U_mu(x - mu)^+: with g(x) the functional changes by Re tr (g - 1) w.
  su3_matrix around(std::int64_t group, int lane) const {
    su3_matrix w{};
    for (int mu = lowest_; mu < 4; ++mu) {
      const auto begins = get(view(u_, mu), group, lane), ends = get(view(ending_[mu]), group, lane);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) w[3 * i + j] += begins[3 * i + j] + std::conj(ends[3 * j + i]);
    }
    return w;
  }

 private:
  const links<double>& u_;
  int lowest_;
  std::vector<matrices> ending_;
};

/// Runs work(group, lane) on the sites of a parity.
template <class Work>
void on_sites(context& ctx, const site_layout& layout, int parity, Work&& work) {
  ctx.workers.parallel_for("gauge fixing", std::size_t(layout.half()), [&](std::size_t first, std::size_t end) {
    const std::int64_t start = parity * layout.half();
    for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b)
      for (int l = 0; l < layout.lanes(); ++l) work(b, l);
  });
}

/// Returns (1 + omega (r - 1)) / |...| of the r in SU(2) with the largest Re tr r a.
quaternion relaxed(const quaternion& a, double omega) {
  const double k = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
  if (k == 0) return {1, 0, 0, 0};
  quaternion g{1 + omega * (a[0] / k - 1), -omega * a[1] / k, -omega * a[2] / k, -omega * a[3] / k};
  const double size = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + g[3] * g[3]);
  for (auto& x : g) x /= size;
  return g;
}

/// Returns g(x) of one step at a site with w.
su3_matrix transformation(su3_matrix w, double omega) {
  su3_matrix g{};
  for (const int i : {0, 4, 8}) g[i] = 1;
  for (const auto& [i, j] : subgroups) {
    const auto a = relaxed(su2_part(w, i, j), omega);
    multiply_rows(g, a, i, j);
    multiply_rows(w, a, i, j);
  }
  make_unitary(g);
  return g;
}

/// Transforms all links of the sites of a parity by g there.
void transform(context& ctx, links<double>& u, const matrices& g, matrices& ahead, int parity) {
  const site_layout& layout = u.layout();
  for (int mu = 0; mu < 4; ++mu) {
    shift(ctx, 1 - parity, view(ahead), view(g), mu, 1);
    on_sites(ctx, layout, parity, [&](std::int64_t b, int l) {
      auto link = times(get(view(g), b, l), get(view(u, mu), b, l));
      make_unitary(link);
      set(view(u, mu), b, l, link);
    });
    on_sites(ctx, layout, 1 - parity, [&](std::int64_t b, int l) {
      auto link = times_adjoint(get(view(u, mu), b, l), get(view(ahead), b, l));
      make_unitary(link);
      set(view(u, mu), b, l, link);
    });
  }
}

}  // namespace

gauge_quality measure_gauge(context& ctx, const links<double>& u, int lowest) {
  const site_layout& layout = u.layout();
  ending_links ending(u, lowest);
  matrices sum(u.shared_layout()), one(u.shared_layout()), divergence(u.shared_layout());
  for (const int p : {0, 1}) {
    ending.gather(ctx, p);
    on_sites(ctx, layout, p, [&](std::int64_t b, int l) {
      const auto w = ending.around(b, l);
      su3_matrix unit{};
      for (const int i : {0, 4, 8}) unit[i] = 1;
      set(view(sum), b, l, w);
      set(view(one), b, l, unit);
      set(view(divergence), b, l, antihermitian(w));  // i Delta
    });
  }
  const double sites = double(layout.lattice().volume());
  return {real_trace(ctx, view(sum), view(one)) / (6 * (4 - lowest) * sites),
          real_trace(ctx, view(divergence), view(divergence)) / (3 * sites), 0};
}

gauge_quality fix_gauge(context& ctx, links<double>& u, const gauge_condition& condition) {
  check(condition.relaxation >= 1 && condition.relaxation < 2, "over-relaxation from 1 to 2");
  ending_links ending(u, condition.lowest);
  matrices g(u.shared_layout()), ahead(u.shared_layout());
  auto quality = measure_gauge(ctx, u, condition.lowest);
  int sweeps = 0;
  while (!(quality.theta < condition.tolerance) && sweeps < condition.max_sweeps) {
    for (int i = 0; i < check_every && sweeps < condition.max_sweeps; ++i, ++sweeps)
      for (const int p : {0, 1}) {
        ending.gather(ctx, p);
        on_sites(ctx, u.layout(), p, [&](std::int64_t b, int l) {
          set(view(g), b, l, transformation(ending.around(b, l), condition.relaxation));
        });
        transform(ctx, u, g, ahead, p);
      }
    quality = measure_gauge(ctx, u, condition.lowest);
  }
  quality.sweeps = sweeps;
  return quality;
}

}  // namespace plaq::lqcd
