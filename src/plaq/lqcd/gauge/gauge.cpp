#include "plaq/lqcd/gauge/gauge.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/staples.hpp"
#include "plaq/lqcd/gauge/subgroups.hpp"
#include "plaq/lqcd/lattice/streams.hpp"

namespace plaq::lqcd {

plaquettes plaquette(context& ctx, const links<double>& u) {
  matrices ahead(u.shared_layout()), left(u.shared_layout()), right(u.shared_layout());
  std::array<double, 6> planes;
  auto plane = planes.begin();
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu) {
      for (const int p : {0, 1}) {
        shift(ctx, p, view(ahead), view(u, nu), mu, 1);
        multiply(ctx, p, view(left), {view(u, mu)}, {view(ahead)});
        shift(ctx, p, view(ahead), view(u, mu), nu, 1);
        multiply(ctx, p, view(right), {view(u, nu)}, {view(ahead)});
      }
      *plane++ = real_trace(ctx, view(left), view(right));
    }
  const double traces = 3 * double(u.layout().lattice().volume());
  const double temporal = planes[0] + planes[1] + planes[2], spatial = planes[3] + planes[4] + planes[5];
  for (double& sum : planes) sum /= traces;
  return {temporal / (3 * traces), spatial / (3 * traces), planes};
}

double rectangle(context& ctx, const links<double>& u) {
  matrices staple(u.shared_layout());
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) {
    for (const int p : {0, 1}) rectangle_staples(ctx, staple, u, p, mu);
    sum += real_trace(ctx, view(u, mu), view(staple));
  }
  return sum /
         (6 * 12 * 3 * double(u.layout().lattice().volume()));  // six links of twelve at each site, a trace of three
}

namespace {

/// Number of colours for links of one direction and parity; links of one colour do not interact.
int colours(const coordinates& extents, int mu, double c1) {
  if (c1 == 0) return 1;
  int n = 4;
  for (int nu = 0; nu < 4; ++nu) n *= nu != mu && extents[nu] % 4 ? 2 : 1;
  return n;
}

/// Colour of the link in direction mu at x. Links of one parity that share a rectangle are one apart in another
/// direction and in mu, or two apart in another direction. The sum over the other directions distinguishes them; if its
/// period of four does not fit into an extent, the last two sites have colours of their own.
int colour(const coordinates& x, const coordinates& extents, int mu) {
  int sum = 0, end = 0;
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    sum += x[nu];
    if (extents[nu] % 4) end = 2 * end + (x[nu] >= extents[nu] - 2);
  }
  return sum % 4 + 4 * end;
}

/// Multiplies every link by a in SU(2) for each subgroup, a = choose(part of U staple^+ in it, site, direction,
/// subgroup).
template <class Choose>
void update(context& ctx, links<double>& u, double c1, const moving_slices& moving, task::task_name name,
            Choose&& choose) {
  const site_layout& layout = u.layout();
  const coordinates& extents = layout.lattice().extents;
  check(c1 == 0 || *std::min_element(extents.begin(), extents.end()) >= 4, "rectangles need extents of at least 4");
  matrices staple(u.shared_layout());
  const auto update_link = [&](std::int64_t b, int l, int mu, std::int64_t site) {
    auto link = get(view(u, mu), b, l);
    auto w = times_adjoint(link, get(view(staple), b, l));
    for (int s = 0; s < 3; ++s) {
      const auto [i, j] = subgroups[s];
      const auto a = choose(su2_part(w, i, j), site, mu, s);
      multiply_rows(link, a, i, j);
      multiply_rows(w, a, i, j);
    }
    make_unitary(link);
    set(view(u, mu), b, l, link);
  };
  const auto update_colour = [&](int p, int mu, int c, int colour_count) {
    weighted_staples(ctx, staple, u, p, mu, c1);
    ctx.workers.parallel_for(name, std::size_t(layout.half()), [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        for (int l = 0; l < layout.lanes(); ++l) {
          const std::int64_t b = p * layout.half() + std::int64_t(i);
          const auto x = layout.coordinates_of(b, l) + layout.lattice().origin();
          if (moving.contain(x[0], mu) && (colour_count == 1 || colour(x, extents, mu) == c))
            update_link(b, l, mu, index_in(x, extents));
        }
    });
  };
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu)
      for (int c = 0, n = colours(extents, mu, c1); c < n; ++c) update_colour(p, mu, c, n);
}

double length(const quaternion& q) { return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); }

quaternion scale(quaternion q, double ctx) {
  for (auto& x : q) x *= ctx;
  return q;
}

}  // namespace

void heat_bath(context& ctx, links<double>& u, const gauge_action& S, const sweep_stream& random,
               const moving_slices& moving) {
  update(ctx, u, S.c1, moving, "heat bath", [&](const quaternion& r, std::int64_t site, int mu, int subgroup) {
    const double k = length(r);
    const auto stream = stream_at(random.seed, random_purpose::heat_bath, random.chain, random.sweep, mu, site);
    const auto b = heat_bath_quaternion(2 * S.beta * k / 3, stream, std::uint64_t(subgroup) << 32);
    return k > 0 ? b * conj(scale(r, 1 / k)) : b;
  });
}

void over_relax(context& ctx, links<double>& u, double c1, const moving_slices& moving) {
  update(ctx, u, c1, moving, "over-relaxation", [](const quaternion& r, std::int64_t, int, int) {
    const double k = length(r);
    if (k == 0) return quaternion{1, 0, 0, 0};
    const auto back = conj(scale(r, 1 / k));
    return back * back;
  });
}

void action_derivative(context& ctx, links<double>& m, const links<double>& u, double c1) {
  matrices staple(u.shared_layout());
  for (int mu = 0; mu < 4; ++mu)
    for (const int p : {0, 1}) {
      weighted_staples(ctx, staple, u, p, mu, c1);
      multiply(ctx, p, view(m, mu), {view(u, mu)}, adjoint(view(staple)));
    }
}

double unitarity_violation(context& ctx, const links<double>& u) {
  double largest[1] = {0};
  for_each_site(u.layout(), [&](const coordinates&, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto m = get(view(u, mu), p.group, p.lane), one = times_adjoint(m, m);
      for (int i = 0; i < 9; ++i) largest[0] = std::fmax(largest[0], std::abs(one[i] - double(i % 4 == 0)));
      const auto det =
          m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
      largest[0] = std::fmax(largest[0], std::abs(det - 1.0));
      if (!std::isfinite(std::abs(det))) largest[0] = INFINITY;
    }
  });
  if (ctx.collectives.size() > 1) ctx.collectives.all_reduce(largest, comm::operation::max);
  return largest[0];
}

}  // namespace plaq::lqcd
