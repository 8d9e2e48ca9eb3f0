#include "plaq/lqcd/gauge/flow.hpp"

#include <array>
#include <numbers>
#include <vector>

#include "plaq/lqcd/gauge/exponential.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/staples.hpp"

namespace plaq::lqcd {

namespace {

constexpr double tree_level = -1.0 / 12;  // c1 of Luescher and Weisz

/// Computes z = the traceless antihermitian part of V_mu(x) staple^+ on all links.
void force(context& ctx, links<double>& z, const links<double>& v, double c1) {
  const site_layout& layout = v.layout();
  matrices staple(v.shared_layout());
  for (int mu = 0; mu < 4; ++mu)
    for (const int p : {0, 1}) {
      weighted_staples(ctx, staple, v, p, mu, c1);
      ctx.workers.parallel_for("force", std::size_t(layout.half()), [&](std::size_t first, std::size_t end) {
        for (std::int64_t b = p * layout.half() + std::int64_t(first); b < p * layout.half() + std::int64_t(end); ++b)
          for (int l = 0; l < layout.lanes(); ++l)
            set(view(z, mu), b, l, antihermitian(times_adjoint(get(view(v, mu), b, l), get(view(staple), b, l))));
      });
    }
}

/// Computes z += D* D z / 12 with the covariant differences of each link in its own direction.
void add_laplacian(context& ctx, links<double>& z, const links<double>& v) {
  const site_layout& layout = v.layout();
  matrices ahead(v.shared_layout()), behind(v.shared_layout()), moved(v.shared_layout());
  const auto on_all = [&](auto&& work) {
    ctx.workers.parallel_for("force", std::size_t(layout.groups()), [&](std::size_t first, std::size_t end) {
      for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
        for (int l = 0; l < layout.lanes(); ++l) work(b, l);
    });
  };
  for (int mu = 0; mu < 4; ++mu) {
    on_all([&](std::int64_t b, int l) {
      const auto link = get(view(v, mu), b, l), here = times(get(view(z, mu), b, l), link);
      su3_matrix back;  // link^+ z link
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          back[3 * i + j] = std::conj(link[i]) * here[j] + std::conj(link[3 + i]) * here[3 + j] +
                            std::conj(link[6 + i]) * here[6 + j];
      set(view(moved), b, l, back);
    });
    for (const int p : {0, 1}) {
      shift(ctx, p, view(ahead), view(z, mu), mu, 1);
      shift(ctx, p, view(behind), view(moved), mu, -1);
    }
    on_all([&](std::int64_t b, int l) {
      const auto link = get(view(v, mu), b, l);
      const auto next = times_adjoint(times(link, get(view(ahead), b, l)), link), last = get(view(behind), b, l);
      auto sum = get(view(z, mu), b, l);
      for (int i = 0; i < 9; ++i) sum[i] = (10.0 * sum[i] + (next[i] + last[i])) / 12.0;
      set(view(z, mu), b, l, sum);
    });
  }
}

}  // namespace

void flow_step(context& ctx, links<double>& v, double step, flow_kind kind) {
  // Factors of the previous exponent and of the new force in the three stages.
  constexpr double keep[3] = {0, -17.0 / 9, -1}, add[3] = {1.0 / 4, 8.0 / 9, 3.0 / 4};
  const site_layout& layout = v.layout();
  links<double> exponent(v.shared_layout()), z(v.shared_layout());
  for (int stage = 0; stage < 3; ++stage) {
    force(ctx, z, v, kind == flow_kind::wilson ? 0 : tree_level);
    if (kind == flow_kind::zeuthen) add_laplacian(ctx, z, v);
    ctx.workers.parallel_for("flow", std::size_t(layout.groups()), [&](std::size_t first, std::size_t end) {
      for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
        for (int mu = 0; mu < 4; ++mu)
          for (int l = 0; l < layout.lanes(); ++l) {
            auto x = get(view(exponent, mu), b, l);
            const auto change = get(view(z, mu), b, l);
            for (int i = 0; i < 9; ++i) x[i] = keep[stage] * x[i] - add[stage] * step * change[i];
            set(view(exponent, mu), b, l, x);
            auto u = times(exponential(x), get(view(v, mu), b, l));
            make_unitary(u);
            set(view(v, mu), b, l, u);
          }
    });
  }
}

void clover_leaves(context& ctx, matrices& out, const links<double>& v, int mu, int nu) {
  matrices a(v.shared_layout()), b(v.shared_layout()), c(v.shared_layout()), d(v.shared_layout());
  const auto both = [](auto&& work) {
    for (const int p : {0, 1}) work(p);
  };
  both([&](int p) {
    shift(ctx, p, view(b), view(v, nu), mu, 1);
    shift(ctx, p, view(a), view(v, mu), nu, 1);
  });
  // With b = U_nu(x + mu) and a = U_mu(x + nu) the plaquette is U_mu b a^+ U_nu^+ from x, b a^+ U_nu^+ U_mu from
  // its corner x + mu, and so on around it. Leaves of other corners are computed at x and then shifted there.
  both([&](int p) {
    multiply(ctx, p, view(c), {view(b)}, adjoint(view(a)));
    multiply(ctx, p, view(d), {view(c)}, adjoint(view(v, nu)));  // b a^+ U_nu^+
    multiply(ctx, p, view(out), {view(v, mu)}, {view(d)});       // at x
    multiply(ctx, p, view(c), {view(d)}, {view(v, mu)});         // at x + mu
  });
  both([&](int p) {
    shift(ctx, p, view(d), view(c), mu, -1);
    add(ctx, p, view(out), view(d));
  });
  both([&](int p) {
    multiply(ctx, p, view(c), adjoint(view(v, nu)), {view(v, mu)});
    multiply(ctx, p, view(d), {view(c)}, {view(b)});         // U_nu^+ U_mu b
    multiply(ctx, p, view(c), {view(d)}, adjoint(view(a)));  // at x + nu
  });
  both([&](int p) {
    shift(ctx, p, view(d), view(c), nu, -1);
    add(ctx, p, view(out), view(d));
  });
  both([&](int p) {
    multiply(ctx, p, view(c), adjoint(view(a)), adjoint(view(v, nu)));
    multiply(ctx, p, view(d), {view(c)}, {view(v, mu)});
    multiply(ctx, p, view(c), {view(d)}, {view(b)});  // a^+ U_nu^+ U_mu b at x + mu + nu
  });
  both([&](int p) { shift(ctx, p, view(d), view(c), mu, -1); });
  both([&](int p) { shift(ctx, p, view(c), view(d), nu, -1); });
  both([&](int p) { add(ctx, p, view(out), view(c)); });
}

flow_observables energy_and_charge(context& ctx, const links<double>& v) {
  const site_layout& layout = v.layout();
  std::vector<matrices> F;  // 01, 02, 03, 12, 13, 23
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu) {
      auto& q = F.emplace_back(v.shared_layout());
      clover_leaves(ctx, q, v, mu, nu);
      ctx.workers.parallel_for("clover", std::size_t(layout.groups()), [&](std::size_t first, std::size_t end) {
        for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
          for (int l = 0; l < layout.lanes(); ++l) {
            auto f = antihermitian(get(view(q), b, l));
            for (auto& z : f) z /= 4.0;
            set(view(q), b, l, f);
          }
      });
    }
  // For antihermitian matrices tr F G = -Re tr F G^+.
  double energy = 0;
  for (const auto& f : F) energy += real_trace(ctx, view(f), view(f));
  const double dual = real_trace(ctx, view(F[0]), view(F[5])) - real_trace(ctx, view(F[1]), view(F[4])) +
                      real_trace(ctx, view(F[2]), view(F[3]));
  return {energy / double(layout.lattice().volume()), dual / (4 * std::numbers::pi * std::numbers::pi)};
}

}  // namespace plaq::lqcd
