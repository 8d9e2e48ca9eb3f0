#include "plaq/pic/fields/antenna.hpp"

#include <cmath>

namespace plaq::pic {

std::complex<double> beam_amplitude(const plan& p, const antenna& a, const std::array<double, 3>& x) {
  if (a.waist == 0) return 1;
  double r2 = 0;
  for (int d = 0; d < p.dimensions; ++d)
    if (d != a.normal) r2 += (x[d] - a.centre[d]) * (x[d] - a.centre[d]);
  const double rayleigh = 0.5 * a.omega * a.waist * a.waist, z = -a.focus;
  // 1/q of the complex beam parameter q = z - i z_R holds width and curvature at once.
  const std::complex<double> q(z, -rayleigh), at_focus(0, -rayleigh), i(0, 1);
  const std::complex<double> size = p.dimensions == 3   ? at_focus / q
                                    : p.dimensions == 2 ? std::sqrt(at_focus / q)
                                                        : 1.0;
  return size * std::exp(i * (0.5 * a.omega * r2 / q + a.omega * z));
}

double sheet_current(const plan& p, const antenna& a) {
  const double h = p.spacing(a.normal), sine = h / p.dt * std::sin(0.5 * a.omega * p.dt);
  return -2 / h * std::sqrt(1 - sine * sine);
}

template <class T>
void radiate(const plan& p, const patch_grid& m, std::int64_t step, fields<T>& f) {
  for (const antenna& a : p.antennas) {
    if (step >= std::int64_t(a.envelope.size()) || a.envelope[std::size_t(step)] == 0) continue;
    const int plane = int(std::lround(a.position / p.spacing(a.normal))) - m.first[a.normal];
    if (plane < 0 || plane >= m.cells[a.normal]) continue;
    const double time = (double(step) + 0.5) * p.dt, by = sheet_current(p, a) * a.field * a.envelope[std::size_t(step)];
    const std::complex<double> wave = by * std::polar(1.0, -(a.omega * time + a.phase));
    for (int along = 1; along <= 2; ++along) {
      const int c = (a.normal + along) % 3;
      const double part = along == 1 ? std::cos(a.angle) : std::sin(a.angle);
      if (part == 0) continue;
      region r = own_cells(m);
      r.low[a.normal] = plane, r.high[a.normal] = plane + 1;
      point at;
      for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
        for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
          for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) {
            std::array<double, 3> x{};
            for (int d = 0; d < m.dimensions; ++d) x[d] = (m.first[d] + at[d] + (d == c ? 0.5 : 0.0)) * m.spacing[d];
            f.j[std::size_t(c)][std::size_t(m.index(at))] += T(part * (wave * beam_amplitude(p, a, x)).real());
          }
    }
  }
}

template void radiate(const plan&, const patch_grid&, std::int64_t, fields<float>&);
template void radiate(const plan&, const patch_grid&, std::int64_t, fields<double>&);

}  // namespace plaq::pic
