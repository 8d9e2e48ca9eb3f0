#include "plaq/lqcd/flow.hpp"

#include <array>
#include <numbers>
#include <vector>

#include "plaq/lqcd/exponential.hpp"
#include "plaq/lqcd/site_matrix.hpp"
#include "plaq/lqcd/staples.hpp"

namespace plaq::lqcd {

void flow_step(engine& by, links<double>& v, double step) {
  // Of the three stages: what is left of the exponents before, and the new force in it.
  constexpr double keep[3] = {0, -17.0 / 9, -1}, add[3] = {1.0 / 4, 8.0 / 9, 3.0 / 4};
  const layout& where = v.where();
  links<double> exponent(v.shared_layout());
  matrices staple(v.shared_layout());
  for (int stage = 0; stage < 3; ++stage) {
    for (int mu = 0; mu < 4; ++mu)
      for (const int p : {0, 1}) {
        staples(by, staple, v, p, mu);
        by.hands.each("force", std::size_t(where.half()), [&](std::size_t first, std::size_t end) {
          for (std::int64_t b = p * where.half() + std::int64_t(first); b < p * where.half() + std::int64_t(end); ++b)
            for (int l = 0; l < where.lanes(); ++l) {
              const auto z = antihermitian(times_adjoint(get(view(v, mu), b, l), get(view(staple), b, l)));
              auto x = get(view(exponent, mu), b, l);
              for (int i = 0; i < 9; ++i) x[i] = keep[stage] * x[i] - add[stage] * step * z[i];
              set(view(exponent, mu), b, l, x);
            }
        });
      }
    by.hands.each("flow", std::size_t(where.blocks()), [&](std::size_t first, std::size_t end) {
      for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
        for (int mu = 0; mu < 4; ++mu)
          for (int l = 0; l < where.lanes(); ++l) {
            auto u = times(exponential(get(view(exponent, mu), b, l)), get(view(v, mu), b, l));
            make_unitary(u);
            set(view(v, mu), b, l, u);
          }
    });
  }
}

void leaves(engine& by, matrices& out, const links<double>& v, int mu, int nu) {
  matrices a(v.shared_layout()), b(v.shared_layout()), c(v.shared_layout()), d(v.shared_layout());
  const auto both = [](auto&& work) {
    for (const int p : {0, 1}) work(p);
  };
  both([&](int p) {
    shift(by, p, view(b), view(v, nu), mu, 1);
    shift(by, p, view(a), view(v, mu), nu, 1);
  });
  // With b = U_nu(x + mu) and a = U_mu(x + nu) the plaquette is U_mu b a^+ U_nu^+ from x, b a^+ U_nu^+ U_mu from
  // its corner x + mu, and so on around it. What is found at x for another corner is then moved there.
  both([&](int p) {
    product(by, p, view(c), {view(b)}, adjoint(view(a)));
    product(by, p, view(d), {view(c)}, adjoint(view(v, nu)));  // b a^+ U_nu^+
    product(by, p, view(out), {view(v, mu)}, {view(d)});       // at x
    product(by, p, view(c), {view(d)}, {view(v, mu)});         // at x + mu
  });
  both([&](int p) {
    shift(by, p, view(d), view(c), mu, -1);
    add(by, p, view(out), view(d));
  });
  both([&](int p) {
    product(by, p, view(c), adjoint(view(v, nu)), {view(v, mu)});
    product(by, p, view(d), {view(c)}, {view(b)});         // U_nu^+ U_mu b
    product(by, p, view(c), {view(d)}, adjoint(view(a)));  // at x + nu
  });
  both([&](int p) {
    shift(by, p, view(d), view(c), nu, -1);
    add(by, p, view(out), view(d));
  });
  both([&](int p) {
    product(by, p, view(c), adjoint(view(a)), adjoint(view(v, nu)));
    product(by, p, view(d), {view(c)}, {view(v, mu)});
    product(by, p, view(c), {view(d)}, {view(b)});  // a^+ U_nu^+ U_mu b at x + mu + nu
  });
  both([&](int p) { shift(by, p, view(d), view(c), mu, -1); });
  both([&](int p) { shift(by, p, view(c), view(d), nu, -1); });
  both([&](int p) { add(by, p, view(out), view(c)); });
}

field_strength clover(engine& by, const links<double>& v) {
  const layout& where = v.where();
  std::vector<matrices> F;  // 01, 02, 03, 12, 13, 23
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu) {
      auto& q = F.emplace_back(v.shared_layout());
      leaves(by, q, v, mu, nu);
      by.hands.each("clover", std::size_t(where.blocks()), [&](std::size_t first, std::size_t end) {
        for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
          for (int l = 0; l < where.lanes(); ++l) {
            auto f = antihermitian(get(view(q), b, l));
            for (auto& z : f) z /= 4.0;
            set(view(q), b, l, f);
          }
      });
    }
  // For antihermitian matrices tr F G = -Re tr F G^+.
  double energy = 0;
  for (const auto& f : F) energy += real_trace(by, view(f), view(f));
  const double dual = real_trace(by, view(F[0]), view(F[5])) - real_trace(by, view(F[1]), view(F[4])) +
                      real_trace(by, view(F[2]), view(F[3]));
  return {energy / double(where.on().volume()), dual / (4 * std::numbers::pi * std::numbers::pi)};
}

}  // namespace plaq::lqcd
