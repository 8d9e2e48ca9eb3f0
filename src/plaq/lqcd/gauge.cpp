#include "plaq/lqcd/gauge.hpp"

#include <cmath>

#include "plaq/lqcd/site_matrix.hpp"
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

void staples(engine& by, matrices& out, const links<double>& u, int parity, int mu) {
  matrices a(u.shared_layout()), b(u.shared_layout()), c(u.shared_layout());
  std::fill_n(out.of(parity), out.size() / 2, 0.0);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    // U_nu(x) U_mu(x + nu) U_nu(x + mu)^+
    shift(by, parity, view(a), view(u, mu), nu, 1);
    shift(by, parity, view(b), view(u, nu), mu, 1);
    product(by, parity, view(c), {view(a)}, adjoint(view(b)));
    product(by, parity, view(out), {view(u, nu)}, {view(c)}, true);
    // and U_nu^+ U_mu U_nu(. + mu) at x - nu
    shift(by, 1 - parity, view(b), view(u, nu), mu, 1);
    product(by, 1 - parity, view(a), {view(u, mu)}, {view(b)});
    product(by, 1 - parity, view(c), adjoint(view(u, nu)), {view(a)});
    shift(by, parity, view(a), view(c), nu, -1);
    add(by, parity, view(out), view(a));
  }
}

namespace {

/// For every subgroup of every link a function (part of U staple^+ in it, site, direction, subgroup) -> a in
/// SU(2), which multiplies U.
template <class Choose>
void update(engine& by, links<double>& u, task::task_name name, Choose&& choose) {
  const layout& where = u.where();
  matrices staple(u.shared_layout());
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu) {
      staples(by, staple, u, p, mu);
      by.hands.each(name, std::size_t(where.half()), [&](std::size_t first, std::size_t end) {
        for (std::int64_t b = p * where.half() + std::int64_t(first); b < p * where.half() + std::int64_t(end);
             ++b)
          for (int l = 0; l < where.lanes(); ++l) {
            auto link = get(view(u, mu), b, l);
            auto w = times_adjoint(link, get(view(staple), b, l));
            const auto site = global_number(where, where.site(b, l));
            for (int s = 0; s < 3; ++s) {
              const auto [i, j] = subgroups[s];
              const auto a = choose(part_of(w, i, j), site, mu, s);
              multiply_rows(link, a, i, j);
              multiply_rows(w, a, i, j);
            }
            make_unitary(link);
            set(view(u, mu), b, l, link);
          }
      });
    }
}

double length_of(const quaternion& q) { return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); }

quaternion scaled(quaternion q, double by) {
  for (auto& x : q) x *= by;
  return q;
}

}  // namespace

void heat_bath(engine& by, links<double>& u, double beta, const sweep_stream& random) {
  update(by, u, "heat bath", [&](const quaternion& r, std::int64_t site, int mu, int subgroup) {
    const double k = length_of(r);
    const auto stream = stream_at(random.seed, draws::heat_bath, random.chain, random.sweep, mu, site);
    const auto b = heat_bath_quaternion(2 * beta * k / 3, stream, std::uint64_t(subgroup) << 32);
    return k > 0 ? b * conj(scaled(r, 1 / k)) : b;
  });
}

void over_relax(engine& by, links<double>& u) {
  update(by, u, "over-relaxation", [](const quaternion& r, std::int64_t, int, int) {
    const double k = length_of(r);
    if (k == 0) return quaternion{1, 0, 0, 0};
    const auto back = conj(scaled(r, 1 / k));
    return back * back;
  });
}

void plaquette_derivative(engine& by, links<double>& m, const links<double>& u) {
  matrices staple(u.shared_layout());
  for (int mu = 0; mu < 4; ++mu)
    for (const int p : {0, 1}) {
      staples(by, staple, u, p, mu);
      product(by, p, view(m, mu), {view(u, mu)}, adjoint(view(staple)));
    }
}

double unitarity_violation(engine& by, const links<double>& u) {
  double worst[1] = {0};
  each_site(u.where(), [&](const coordinates&, layout::place p) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto m = get(view(u, mu), p.block, p.lane), one = times_adjoint(m, m);
      for (int i = 0; i < 9; ++i) worst[0] = std::fmax(worst[0], std::abs(one[i] - double(i % 4 == 0)));
      const auto det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                       m[2] * (m[3] * m[7] - m[4] * m[6]);
      worst[0] = std::fmax(worst[0], std::abs(det - 1.0));
      if (!std::isfinite(std::abs(det))) worst[0] = INFINITY;
    }
  });
  if (by.together.size() > 1) by.together.all_reduce(worst, comm::operation::max);
  return worst[0];
}

}  // namespace plaq::lqcd
