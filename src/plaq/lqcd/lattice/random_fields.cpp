#include "plaq/lqcd/lattice/random_fields.hpp"

#include <cmath>
#include <numbers>

namespace plaq::lqcd {

std::array<std::complex<double>, 2> gaussian_pair(const stream_id& stream, std::uint64_t index) {
  const auto words = random_words(stream, index);
  std::array<std::complex<double>, 2> z;
  for (int i = 0; i < 2; ++i) {
    const double r = std::sqrt(-std::log(1 - unit_interval(words[2 * i])));  // 1 - u is in (0, 1]
    z[i] = std::polar(r, 2 * std::numbers::pi * unit_interval(words[2 * i + 1]));
  }
  return z;
}

void make_unitary(su3_matrix& u) {
  const auto normalise = [&](int row) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::norm(u[3 * row + c]);
    for (int c = 0; c < 3; ++c) u[3 * row + c] /= std::sqrt(sum);
  };
  normalise(0);
  std::complex<double> overlap = 0;
  for (int c = 0; c < 3; ++c) overlap += std::conj(u[c]) * u[3 + c];
  for (int c = 0; c < 3; ++c) u[3 + c] -= overlap * u[c];
  normalise(1);
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    u[6 + c] = std::conj(u[a] * u[3 + b] - u[b] * u[3 + a]);
  }
}

su3_matrix random_su3(const stream_id& stream) {
  su3_matrix u;
  for (int i = 0; i < 3; ++i) {
    const auto z = gaussian_pair(stream, std::uint64_t(i));
    u[2 * i] = z[0], u[2 * i + 1] = z[1];
  }
  make_unitary(u);
  return u;
}

template <class T>
void hot_start(links<T>& gauge, std::uint64_t seed) {
  for_each_site(gauge.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto u =
          random_su3(stream_at(seed, random_purpose::gauge_start, 0, 0, mu, global_index(gauge.layout(), x)));
      for (int i = 0; i < 9; ++i) gauge.set(p, 9 * mu + i, std::complex<T>(u[i]));
    }
  });
}

template <class T>
void cold_start(links<T>& gauge) {
  for_each_site(gauge.layout(), [&](const coordinates&, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu)
      for (int i = 0; i < 9; ++i) gauge.set(p, 9 * mu + i, i % 4 == 0);
  });
}

template <class T>
void gaussian(spinors<T>& eta, const spinor_stream& random) {
  for_each_site(eta.layout(), [&](const coordinates& x, site_layout::location p) {
    if (!eta.has(parity(x))) return;
    const auto stream =
        stream_at(random.seed, random.purpose, random.number, random.part, 0, global_index(eta.layout(), x));
    for (int i = 0; i < 6; ++i) {
      const auto z = gaussian_pair(stream, std::uint64_t(i));
      for (int j = 0; j < 2; ++j) eta.set(p, 2 * i + j, std::complex<T>(z[j]));
    }
  });
}

template void hot_start(links<double>&, std::uint64_t);
template void hot_start(links<float>&, std::uint64_t);
template void cold_start(links<double>&);
template void cold_start(links<float>&);
template void gaussian(spinors<double>&, const spinor_stream&);
template void gaussian(spinors<float>&, const spinor_stream&);

}  // namespace plaq::lqcd
