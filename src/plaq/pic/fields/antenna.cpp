#include "plaq/pic/fields/antenna.hpp"

#include <cmath>
#include <vector>

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

double dot(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Direction of the beam.
vector direction_of(const antenna& a) {
  vector out = a.direction;
  if (!a.oblique()) out[std::size_t(a.normal)] = 1;
  return out;
}

/// Returns a point of the plane from the one where the beam's axis meets it.
vector from_axis(const plan& p, const antenna& a, const vector& x) {
  vector out{};
  for (int d = 0; d < p.dimensions; ++d)
    if (d != a.normal) out[std::size_t(d)] = x[std::size_t(d)] - a.centre[std::size_t(d)];
  return out;
}

/// Returns E / E_0 of the wave: that of normal incidence, turned by the least rotation from the normal, or its
/// opposite, to the direction.
vector polarisation(const antenna& a) {
  vector e{}, normal{}, n = direction_of(a);
  normal[std::size_t(a.normal)] = n[std::size_t(a.normal)] < 0 ? -1 : 1;
  e[std::size_t((a.normal + 1) % 3)] = std::cos(a.angle), e[std::size_t((a.normal + 2) % 3)] = std::sin(a.angle);
  // R e = e - (n + N) (n e) / (1 + n N), since N e = 0
  const double by = dot(n, e) / (1 + dot(n, normal));
  for (std::size_t c = 0; c < 3; ++c) e[c] -= by * (n[c] + normal[c]);
  return e;
}

/// Component c of J that a sheet has, as a part of its amplitude.
template <class T>
struct sheet_component {
  int c;
  double part;
  fields<T>* of;
};
/// Returns those of a cylinder for the currents along x and y: J_r = J_x cos(theta) + J_y sin(theta), J_theta = J_y
/// cos(theta) - J_x sin(theta), of the mode 1.
template <class T>
std::vector<sheet_component<T>> polarised_mode(fields<T>& f, double x, double y) {
  return {{1, x, &f.modes[0]}, {1, y, &f.modes[1]}, {2, y, &f.modes[0]}, {2, -x, &f.modes[1]}};
}

/// Returns the envelope at a number of steps after the first middle of a step; linear between its values.
double envelope_at(const antenna& a, double steps) {
  const double at = steps + double(a.envelope_before), whole = std::floor(at), part = at - whole;
  const auto value = [&](double n) {
    return n >= 0 && n < double(a.envelope.size()) ? a.envelope[std::size_t(n)] : 0.0;
  };
  return part == 0 ? value(whole) : (1 - part) * value(whole) + part * value(whole + 1);
}

/// Returns the value of the antenna's map at a time.
std::complex<double> pulse_at(const plan& p, const antenna& a, const vector& x, double time) {
  const vector r = from_axis(p, a, x);
  vector at{r[std::size_t((a.normal + 1) % 3)], r[std::size_t((a.normal + 2) % 3)], time};
  if (a.round) at = {std::hypot(at[0], at[1]), 0, time};
  return {a.pulse[0].at(at, 3), a.pulse[1].at(at, 3)};
}

}  // namespace

double way_along(const plan& p, const antenna& a, const vector& x) { return dot(from_axis(p, a, x), direction_of(a)); }

std::complex<double> beam_amplitude(const plan& p, const antenna& a, const vector& x) {
  const vector r = from_axis(p, a, x);
  const std::complex<double> i(0, 1);
  const double s = dot(r, direction_of(a));
  if (a.waist == 0) return std::exp(i * (a.omega * s));
  const double rayleigh = 0.5 * a.omega * a.waist * a.waist, z = s - a.focus, r2 = dot(r, r) - s * s;
  // 1/q of the complex beam parameter q = z - i z_R holds width and curvature at once.
  const std::complex<double> q(z, -rayleigh), at_focus(0, -rayleigh);
  const std::complex<double> size = p.dimensions == 3 || p.cylinder ? at_focus / q
                                    : p.dimensions == 2             ? std::sqrt(at_focus / q)
                                                                    : 1.0;
  return size * std::exp(i * (0.5 * a.omega * r2 / q + a.omega * z));
}

std::array<double, 2> sheet_current(const plan& p, const antenna& a) {
  const vector n = direction_of(a), e = polarisation(a);
  const double h = p.spacing(a.normal), rate = 2 / p.dt * std::sin(0.5 * a.omega * p.dt);
  vector k{};  // K_t
  for (int d = 0; d < p.dimensions; ++d)
    if (d != a.normal)
      k[std::size_t(d)] = 2 / p.spacing(d) * std::sin(0.5 * a.omega * n[std::size_t(d)] * p.spacing(d));
  const double across = rate * rate - dot(k, k), sine = 0.5 * h * std::sqrt(across);  // sin(k_n h/2)
  const double factor = -2 * 2 * sine * std::sqrt(1 - sine * sine) / (h * rate) / h, along = dot(k, e) / across;
  std::array<double, 2> out{};
  for (std::size_t c = 0; c < 2; ++c) {
    const auto d = (std::size_t(a.normal) + 1 + c) % 3;
    out[c] = factor * (e[d] + along * k[d]);
  }
  return out;
}

template <class T>
void radiate(const plan& p, const patch_grid& m, std::int64_t step, fields<T>& f) {
  for (const antenna& a : p.antennas) {
    const bool mapped = !a.pulse[0].empty();
    if (!mapped && !a.oblique() && envelope_at(a, double(step)) == 0) continue;
    const int plane = int(std::lround(a.position / p.spacing(a.normal))) - m.first[a.normal];
    if (plane < 0 || plane >= m.cells[a.normal]) continue;
    const double time = (double(step) + 0.5) * p.dt;
    const std::complex<double> wave = a.field * std::polar(1.0, -(a.omega * time + a.phase));
    const auto [first, second] = sheet_current(p, a);
    for (const auto& to : m.cylinder ? polarised_mode(f, first, second)
                                     : std::vector<sheet_component<T>>{{(a.normal + 1) % 3, first, &f},
                                                                       {(a.normal + 2) % 3, second, &f}}) {
      const auto [c, part, of] = to;
      if (part == 0) continue;
      region r = own_cells(m);
      r.low[a.normal] = plane, r.high[a.normal] = plane + 1;
      for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
        vector x{};
        for (int d = 0; d < m.dimensions; ++d)
          x[std::size_t(d)] = (m.first[d] + at[d] + (d == c ? 0.5 : 0.0)) * m.spacing[d];
        double strength = part;
        if (!mapped) strength *= envelope_at(a, double(step) - way_along(p, a, x) / p.dt);
        if (strength == 0) return;
        const auto amplitude = mapped ? pulse_at(p, a, x, time) : beam_amplitude(p, a, x);
        of->j[std::size_t(c)][std::size_t(i)] += T(strength * (wave * amplitude).real());
      });
    }
  }
}

template void radiate(const plan&, const patch_grid&, std::int64_t, fields<float>&);
template void radiate(const plan&, const patch_grid&, std::int64_t, fields<double>&);

}  // namespace plaq::pic
