#include "plaq/dca/walk/g0_table.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/linalg/transpose.hpp"

namespace plaq::dca {

g0_table::g0_table(double beta, int sites, int segments, std::vector<double> coefficients, std::vector<int> difference)
    : beta_(beta),
      scale_(segments / beta),
      sites_(sites),
      segments_(segments),
      stride_(std::size_t(terms) * segments),
      coefficients_(std::move(coefficients)),
      difference_(std::move(difference)) {
  check(beta > 0 && sites > 0 && segments > 0, "g0_table: beta, sites and segments must be positive");
  check(difference_.size() == std::size_t(sites) * sites, "g0_table: differences must be sites x sites");
  for (int d : difference_)
    check(d >= 0 && (d + 1) * stride_ <= coefficients_.size(), "g0_table: a site difference has no coefficients");
}

namespace {

constexpr int lanes = linalg::native_lanes<double>;
static_assert(g0_table::terms % lanes == 0);
using vector = linalg::simd<double, lanes>;
using numbers = linalg::simd<std::int64_t, lanes>;

/// Returns as many functions at their times as a register has lanes. Their coefficients are rows of a tile that is
/// turned over: each row is read in one piece.
PLAQ_KERNEL vector evaluate(const double* const (&c)[lanes], vector time, double scale, int segments) {
  const vector x = time * scale;
  numbers segment = __builtin_convertvector(x, numbers);
  segment = segment < segments ? segment : segments - 1 + numbers{};
  const vector y = x - __builtin_convertvector(segment, vector);
  vector sum{};
  for (int first = g0_table::terms - lanes; first >= 0; first -= lanes) {
    linalg::square_tile<double> t;
    for (int l = 0; l < lanes; ++l) t[l] = linalg::load<vector>(c[l] + g0_table::terms * segment[l] + first);
    linalg::transpose<double>(t);
    for (int n = lanes - 1; n >= 0; --n) sum = sum * y + t[n];
  }
  return sum;
}

template <class Real>
PLAQ_KERNEL void put(Real* to, vector v) {
  if constexpr (std::is_same_v<Real, double>)
    linalg::store(to, v);
  else
    for (int l = 0; l < lanes; ++l) to[l] = Real(v[l]);
}

}  // namespace

template <class Real>
void g0_table::both_directions(int count, const int* sites, const double* taus, int site, double tau, Real* forward,
                               Real* backward) const {
  const int* difference = &difference_[std::size_t(site) * sites_];
  const auto coefficients = [&](int i) { return &coefficients_[std::size_t(difference[sites[i]]) * stride_]; };
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    const double* c[lanes];
    for (int l = 0; l < lanes; ++l) c[l] = coefficients(i + l);
    const vector after = linalg::load<vector>(taus + i) - tau, distance = after < 0 ? -after : after;
    const vector later = evaluate(c, distance, scale_, segments_);
    const vector earlier = -evaluate(c, beta_ - distance, scale_, segments_);  // g(-t) = -g(beta - t)
    put(forward + i, after < 0 ? earlier : later);
    put(backward + i, after < 0 ? later : earlier);
  }
  for (; i < count; ++i) {
    const double after = taus[i] - tau, distance = std::abs(after);
    const double later = value(coefficients(i), distance), earlier = -value(coefficients(i), beta_ - distance);
    forward[i] = Real(after < 0 ? earlier : later);
    backward[i] = Real(after < 0 ? later : earlier);
  }
}
template void g0_table::both_directions<double>(int, const int*, const double*, int, double, double*, double*) const;
template void g0_table::both_directions<float>(int, const int*, const double*, int, double, float*, float*) const;

template <bool To, class Real>
void g0_table::one_direction(int count, const int* sites, const double* taus, int site, double tau, Real* out) const {
  const int* difference = &difference_[To ? std::size_t(site) : std::size_t(site) * sites_];
  const int stride = To ? sites_ : 1;
  const auto coefficients = [&](int i) { return &coefficients_[std::size_t(difference[sites[i] * stride]) * stride_]; };
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    const double* c[lanes];
    for (int l = 0; l < lanes; ++l) c[l] = coefficients(i + l);
    const vector other = linalg::load<vector>(taus + i), after = To ? other - tau : tau - other;
    const vector g = evaluate(c, after < 0 ? after + beta_ : after, scale_, segments_);
    put(out + i, after < 0 ? -g : g);
  }
  for (; i < count; ++i) {
    const double after = To ? taus[i] - tau : tau - taus[i];
    out[i] = Real(after < 0 ? -value(coefficients(i), after + beta_) : value(coefficients(i), after));
  }
}

template <class Real>
void g0_table::to_points(int count, const int* sites, const double* taus, int site, double tau, Real* out) const {
  one_direction<true>(count, sites, taus, site, tau, out);
}
template <class Real>
void g0_table::from_points(int count, const int* sites, const double* taus, int site, double tau, Real* out) const {
  one_direction<false>(count, sites, taus, site, tau, out);
}
template void g0_table::to_points<double>(int, const int*, const double*, int, double, double*) const;
template void g0_table::to_points<float>(int, const int*, const double*, int, double, float*) const;
template void g0_table::from_points<double>(int, const int*, const double*, int, double, double*) const;
template void g0_table::from_points<float>(int, const int*, const double*, int, double, float*) const;

}  // namespace plaq::dca
