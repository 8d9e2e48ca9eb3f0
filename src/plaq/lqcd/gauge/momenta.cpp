#include "plaq/lqcd/gauge/momenta.hpp"

#include <cmath>

#include "plaq/lqcd/gauge/exponential.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"

namespace plaq::lqcd {

namespace {

/// Returns i sum_a p_a lambda_a / 2 with the eight matrices of Gell-Mann.
su3_matrix algebra_element(const std::array<double, 8>& p) {
  const std::complex<double> i(0, 0.5);
  const double eighth = p[7] / std::sqrt(3.0);
  return {i * (p[2] + eighth),
          0.5 * std::complex(p[1], p[0]),
          0.5 * std::complex(p[4], p[3]),
          0.5 * std::complex(-p[1], p[0]),
          i * (eighth - p[2]),
          0.5 * std::complex(p[6], p[5]),
          0.5 * std::complex(-p[4], p[3]),
          0.5 * std::complex(-p[6], p[5]),
          i * (-2 * eighth)};
}

/// Calls f(group, lane, mu) for every link of this rank.
template <class F>
void for_each_link(context& ctx, const site_layout& layout, task::task_name name, F&& f) {
  ctx.workers.parallel_for(name, std::size_t(layout.groups()), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
      for (int mu = 0; mu < 4; ++mu)
        for (int l = 0; l < layout.lanes(); ++l) f(b, l, mu);
  });
}

}  // namespace

void gaussian_momenta(momenta& p, std::uint64_t seed, std::uint32_t trajectory) {
  for_each_site(p.layout(), [&](const coordinates& x, site_layout::location at) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto stream = stream_at(seed, random_purpose::momenta, trajectory, 0, mu, global_index(p.layout(), x));
      std::array<double, 8> components;
      for (int i = 0; i < 4; ++i) {
        const auto z = std::sqrt(2.0) * gaussian_pair(stream, std::uint64_t(i / 2))[i % 2];
        components[2 * i] = z.real(), components[2 * i + 1] = z.imag();
      }
      set(view(p, mu), at.group, at.lane, algebra_element(components));
    }
  });
}

double kinetic_energy(context& ctx, const momenta& p) {
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) sum += real_trace(ctx, view(p, mu), view(p, mu));
  return sum;
}

void move_links(context& ctx, links<double>& u, const momenta& p, double time) {
  for_each_link(ctx, u.layout(), "move links", [&](std::int64_t b, int l, int mu) {
    auto step = get(view(p, mu), b, l);
    for (auto& z : step) z *= time;
    auto link = times(exponential(step), get(view(u, mu), b, l));
    make_unitary(link);
    set(view(u, mu), b, l, link);
  });
}

void kick(context& ctx, momenta& p, const links<double>& m, double factor) {
  for_each_link(ctx, p.layout(), "kick", [&](std::int64_t b, int l, int mu) {
    const auto force = antihermitian(get(view(m, mu), b, l));
    auto sum = get(view(p, mu), b, l);
    for (int i = 0; i < 9; ++i) sum[i] += factor * force[i];
    set(view(p, mu), b, l, sum);
  });
}

}  // namespace plaq::lqcd
