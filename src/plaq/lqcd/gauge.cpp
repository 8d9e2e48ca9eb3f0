#include "plaq/lqcd/gauge.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/lqcd/site_matrix.hpp"
#include "plaq/lqcd/staples.hpp"
#include "plaq/lqcd/streams.hpp"
#include "plaq/lqcd/subgroups.hpp"

namespace plaq::lqcd {

plaquettes plaquette(engine& by, const links<double>& u) {
  matrices ahead(u.shared_layout()), left(u.shared_layout()), right(u.shared_layout());
  double sum[2] = {0, 0};
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu) {
      for (const int p : {0, 1}) {
        shift(by, p, view(ahead), view(u, nu), mu, 1);
        product(by, p, view(left), {view(u, mu)}, {view(ahead)});
        shift(by, p, view(ahead), view(u, mu), nu, 1);
        product(by, p, view(right), {view(u, nu)}, {view(ahead)});
      }
      sum[mu > 0] += real_trace(by, view(left), view(right));
    }
  const double planes = 9 * double(u.where().on().volume());  // three, with a trace of three
  return {sum[0] / planes, sum[1] / planes};
}

double rectangle(engine& by, const links<double>& u) {
  matrices staple(u.shared_layout());
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) {
    for (const int p : {0, 1}) rectangle_staples(by, staple, u, p, mu);
    sum += real_trace(by, view(u, mu), view(staple));
  }
  return sum / (6 * 12 * 3 * double(u.where().on().volume()));  // six links of twelve at each site, a trace of three
}

namespace {

/// c0 times the staples of plaquettes and c1 times those of rectangles.
void weighted_staples(engine& by, matrices& out, const links<double>& u, int parity, int mu, double c1) {
  staples(by, out, u, parity, mu);
  if (c1 == 0) return;
  matrices more(u.shared_layout());
  rectangle_staples(by, more, u, parity, mu);
  const std::size_t block = out.size() / std::size_t(out.blocks());
  by.hands.each("weigh", std::size_t(u.where().half()), [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first * block; i < end * block; ++i)
      out.of(parity)[i] = (1 - 8 * c1) * out.of(parity)[i] + c1 * more.of(parity)[i];
  });
}

/// How many colours there are for links of one direction and parity, where those of one colour do not act on one
/// another.
int colours(const coordinates& extents, int mu, double c1) {
  if (c1 == 0) return 1;
  int n = 4;
  for (int nu = 0; nu < 4; ++nu) n *= nu != mu && extents[nu] % 4 ? 2 : 1;
  return n;
}

/// Links in direction mu of one parity that share a rectangle are one apart in another direction and in mu, or two
/// in another. The sum over these others tells them apart; where its period of four does not fit, the last two
/// sites have colours of their own.
int colour(const coordinates& x, const coordinates& extents, int mu) {
  int sum = 0, end = 0;
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    sum += x[nu];
    if (extents[nu] % 4) end = 2 * end + (x[nu] >= extents[nu] - 2);
  }
  return sum % 4 + 4 * end;
}

/// For every subgroup of every link a function (part of U staple^+ in it, site, direction, subgroup) -> a in
/// SU(2), which multiplies U.
template <class Choose>
void update(engine& by, links<double>& u, double c1, task::task_name name, Choose&& choose) {
  const layout& where = u.where();
  const coordinates& extents = where.on().extents;
  check(c1 == 0 || *std::min_element(extents.begin(), extents.end()) >= 4, "rectangles that wind around the lattice");
  matrices staple(u.shared_layout());
  const auto update_link = [&](std::int64_t b, int l, int mu, std::int64_t site) {
    auto link = get(view(u, mu), b, l);
    auto w = times_adjoint(link, get(view(staple), b, l));
    for (int s = 0; s < 3; ++s) {
      const auto [i, j] = subgroups[s];
      const auto a = choose(part_of(w, i, j), site, mu, s);
      multiply_rows(link, a, i, j);
      multiply_rows(w, a, i, j);
    }
    make_unitary(link);
    set(view(u, mu), b, l, link);
  };
  const auto update_colour = [&](int p, int mu, int c, int of) {
    weighted_staples(by, staple, u, p, mu, c1);
    by.hands.each(name, std::size_t(where.half()), [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        for (int l = 0; l < where.lanes(); ++l) {
          const std::int64_t b = p * where.half() + std::int64_t(i);
          const auto x = where.site(b, l) + where.on().origin();
          if (of == 1 || colour(x, extents, mu) == c) update_link(b, l, mu, number_in(x, extents));
        }
    });
  };
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu)
      for (int c = 0, n = colours(extents, mu, c1); c < n; ++c) update_colour(p, mu, c, n);
}

double length_of(const quaternion& q) { return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); }

quaternion scaled(quaternion q, double by) {
  for (auto& x : q) x *= by;
  return q;
}

}  // namespace

void heat_bath(engine& by, links<double>& u, const gauge_action& S, const sweep_stream& random) {
  update(by, u, S.c1, "heat bath", [&](const quaternion& r, std::int64_t site, int mu, int subgroup) {
    const double k = length_of(r);
    const auto stream = stream_at(random.seed, draws::heat_bath, random.chain, random.sweep, mu, site);
    const auto b = heat_bath_quaternion(2 * S.beta * k / 3, stream, std::uint64_t(subgroup) << 32);
    return k > 0 ? b * conj(scaled(r, 1 / k)) : b;
  });
}

void over_relax(engine& by, links<double>& u, double c1) {
  update(by, u, c1, "over-relaxation", [](const quaternion& r, std::int64_t, int, int) {
    const double k = length_of(r);
    if (k == 0) return quaternion{1, 0, 0, 0};
    const auto back = conj(scaled(r, 1 / k));
    return back * back;
  });
}

void action_derivative(engine& by, links<double>& m, const links<double>& u, double c1) {
  matrices staple(u.shared_layout());
  for (int mu = 0; mu < 4; ++mu)
    for (const int p : {0, 1}) {
      weighted_staples(by, staple, u, p, mu, c1);
      product(by, p, view(m, mu), {view(u, mu)}, adjoint(view(staple)));
    }
}

double unitarity_violation(engine& by, const links<double>& u) {
  double worst[1] = {0};
  each_site(u.where(), [&](const coordinates&, layout::place p) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto m = get(view(u, mu), p.block, p.lane), one = times_adjoint(m, m);
      for (int i = 0; i < 9; ++i) worst[0] = std::fmax(worst[0], std::abs(one[i] - double(i % 4 == 0)));
      const auto det =
          m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
      worst[0] = std::fmax(worst[0], std::abs(det - 1.0));
      if (!std::isfinite(std::abs(det))) worst[0] = INFINITY;
    }
  });
  if (by.together.size() > 1) by.together.all_reduce(worst, comm::operation::max);
  return worst[0];
}

}  // namespace plaq::lqcd
