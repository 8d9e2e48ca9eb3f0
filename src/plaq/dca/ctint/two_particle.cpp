#include "plaq/dca/ctint/two_particle.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/phase_sums.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca::ctint {

two_frequency::two_frequency(const interacting_cluster& cluster, const two_particle_list& measured)
    : cluster_(cluster),
      frequencies_(measured.frequencies),
      flavours_(cluster.flavours()),
      g0_(measured.g0.begin(), measured.g0.end()) {
  const auto cells = std::size_t(cluster.cells);
  const momentum_tables& momenta = cluster.momenta;
  check(momenta.fourier.size() == cells * cells && momenta.sum.size() == cells * cells && momenta.minus.size() == cells,
        "ctint: momentum tables of another cluster");
  check(g0_.size() == cluster.g0.size() * cells * std::size_t(cluster.orbitals * cluster.orbitals * frequencies_),
        "ctint: g0 must be [species][K][a][b][n]");
}

two_frequency::complex two_frequency::bath(int species, int K, int a, int b, int n) const {
  const int row = n < 0 ? cluster_.momenta.minus[std::size_t(K)] : K;
  const int index = ((species * cluster_.cells + row) * cluster_.orbitals + a) * cluster_.orbitals + b;
  const complex value = g0_[std::size_t(index * frequencies_ + (n < 0 ? -1 - n : n))];
  return n < 0 ? std::conj(value) : value;
}

void two_frequency::evaluate(const block_sample& s, int species) {
  const std::size_t all = std::size_t(4 * flavours_ * flavours_) * std::size_t(frequencies_ * frequencies_);
  g_.assign(all, 0.f);
  if (s.size() > 0) {
    transform(s);
    to_momenta();
  }
  multiply_by_bath(species);
}

/// Computes sum_pq e^{i w tau_p} M_pq e^{-i w' tau_q} between flavours.
void two_frequency::transform(const block_sample& s) {
  const int f = frequencies_, k = s.size();
  std::vector<int> odd;
  for (int n = 0; n < f; ++n) odd.push_back(2 * n + 1);
  compute_phases(s.create.tau, cluster_.beta, odd, create_phase_);
  compute_phases(s.annihilate.tau, cluster_.beta, odd, annihilate_phase_);
  transformed_.reshape(k, 2 * f);
  parts_.reshape(2 * f, 2 * f);
  for (int y = 0; y < flavours_; ++y) {
    const int first = s.annihilate.first[std::size_t(y)], count = s.annihilate.first[std::size_t(y) + 1] - first;
    if (count == 0) continue;
    linalg::gemm<float>(false, false, k, 2 * f, count, 1, s.m.column(first), s.m.stride(),
                        annihilate_phase_.data() + first, annihilate_phase_.stride(), 0, transformed_.data(),
                        transformed_.stride());
    for (int x = 0; x < flavours_; ++x) {
      const int begin = s.create.first[std::size_t(x)], rows = s.create.first[std::size_t(x) + 1] - begin;
      if (rows == 0) continue;
      linalg::gemm<float>(true, false, 2 * f, 2 * f, rows, 1, create_phase_.data() + begin, create_phase_.stride(),
                          transformed_.data() + begin, transformed_.stride(), 0, parts_.data(), parts_.stride());
      complex* out = &g_[std::size_t(x * flavours_ + y) * std::size_t(4 * f * f)];
      for (int n = -f; n < f; ++n)
        for (int n2 = -f; n2 < f; ++n2) {
          const int a = n < 0 ? -1 - n : n, b = n2 < 0 ? -1 - n2 : n2;
          const float sign = n < 0 ? -1 : 1, sign2 = n2 < 0 ? -1 : 1;  // of the sines
          const float cc = parts_(a, b), ss = sign * sign2 * parts_(f + a, f + b);
          const float sc = sign * parts_(f + a, b), cs = sign2 * parts_(a, f + b);
          out[(n + f) * 2 * f + n2 + f] = {cc + ss, sc - cs};
        }
    }
  }
}

/// Transforms cells to momenta: e^{-iKR} for the first index, e^{iK'R'} for the second.
void two_frequency::to_momenta() {
  const int cells = cluster_.cells, orbitals = cluster_.orbitals;
  const std::size_t block = std::size_t(4 * frequencies_ * frequencies_);
  const auto at = [&](std::vector<complex>& g, int x, int y) { return &g[std::size_t(x * flavours_ + y) * block]; };
  for (const bool second : {false, true}) {
    scratch_.assign(g_.size(), 0.f);
    for (int K = 0; K < cells; ++K)
      for (int R = 0; R < cells; ++R) {
        const std::complex<double> phase = cluster_.momenta.fourier[std::size_t(K * cells + R)];
        const complex factor(second ? std::conj(phase) : phase);
        for (int a = 0; a < orbitals; ++a)
          for (int other = 0; other < flavours_; ++other) {
            const int to = K * orbitals + a, from = R * orbitals + a;
            const complex* in = second ? at(g_, other, from) : at(g_, from, other);
            complex* out = second ? at(scratch_, other, to) : at(scratch_, to, other);
            for (std::size_t i = 0; i < block; ++i) out[i] += factor * in[i];
          }
      }
    g_.swap(scratch_);
  }
}

void two_frequency::multiply_by_bath(int species) {
  const int f = frequencies_, orbitals = cluster_.orbitals, cells = cluster_.cells;
  const float scale = float(-1 / (cluster_.beta * cells));
  const auto at = [&](int x, int y, int n, int n2) -> complex& {
    return g_[(std::size_t(x * flavours_ + y) * std::size_t(2 * f) + std::size_t(n + f)) * std::size_t(2 * f) +
              std::size_t(n2 + f)];
  };
  std::vector<complex> half(std::size_t(orbitals * orbitals)), whole(half.size());
  for (int K = 0; K < cells; ++K)
    for (int K2 = 0; K2 < cells; ++K2)
      for (int n = -f; n < f; ++n)
        for (int n2 = -f; n2 < f; ++n2) {
          std::ranges::fill(half, 0.f);
          std::ranges::fill(whole, 0.f);
          for (int a = 0; a < orbitals; ++a)
            for (int c = 0; c < orbitals; ++c)
              for (int d = 0; d < orbitals; ++d)
                half[std::size_t(a * orbitals + d)] +=
                    bath(species, K, a, c, n) * at(K * orbitals + c, K2 * orbitals + d, n, n2);
          for (int a = 0; a < orbitals; ++a)
            for (int d = 0; d < orbitals; ++d)
              for (int b = 0; b < orbitals; ++b)
                whole[std::size_t(a * orbitals + b)] +=
                    half[std::size_t(a * orbitals + d)] * bath(species, K2, d, b, n2);
          for (int a = 0; a < orbitals; ++a)
            for (int b = 0; b < orbitals; ++b)
              at(K * orbitals + a, K2 * orbitals + b, n, n2) =
                  scale * whole[std::size_t(a * orbitals + b)] +
                  (K == K2 && n == n2 ? bath(species, K, a, b, n) : complex(0));
        }
}

std::size_t two_particle::size(const interacting_cluster& cluster, const two_particle_list& measured) {
  const auto side = std::size_t(cluster.cells * cluster.orbitals * cluster.orbitals * 2 * measured.window);
  return 4 * side * side;
}

two_particle::two_particle(const interacting_cluster& cluster, const two_particle_list& measured)
    : cluster_(cluster), measured_(measured), sums_(measured.requests.size()) {
  check(cluster.blocks() == 2 && cluster.g0.size() == 1, "ctint: two-particle functions need two equivalent blocks");
  for (const pair_request& r : measured.requests) {
    check(r.transfer >= 0 && r.transfer < cluster.cells, "ctint: the transfer is not a cluster momentum");
    check(measured.window + std::abs(r.bosonic) <= measured.frequencies, "ctint: too few frequencies measured");
  }
  for (int block = 0; block < 2; ++block) blocks_.emplace_back(cluster, measured);
}

void two_particle::begin_bin() {
  for (auto& sum : sums_) sum.assign(size(cluster_, measured_), 0.);
}

void two_particle::accumulate(const sample& s) {
  for (std::size_t block = 0; block < 2; ++block) blocks_[block].evaluate(s.blocks[block], cluster_.species[block]);
  for (std::size_t r = 0; r < sums_.size(); ++r) add(measured_.requests[r], s.sign, sums_[r]);
}

void two_particle::add(const pair_request& r, double weight, std::vector<double>& sum) const {
  const int F = measured_.window, orbitals = cluster_.orbitals, cells = cluster_.cells, Q = r.transfer, m = r.bosonic;
  const momentum_tables& momenta = cluster_.momenta;
  const auto flavour = [&](int K, int a) { return K * orbitals + a; };
  const auto shifted = [&](int K) {
    return r.pairs ? momenta.plus(momenta.minus[std::size_t(K)], Q) : momenta.plus(K, Q);
  };
  const auto shift = [&](int n) { return r.pairs ? m - 1 - n : n + m; };
  const auto value = [&](int s, int x, int n, int y, int n2) {
    return std::complex<double>(blocks_[std::size_t(s)].row(x, n, y)[n2 + measured_.frequencies]);
  };
  double* equal = sum.data();
  double* opposite = sum.data() + sum.size() / 2;
  for (int K = 0; K < cells; ++K)
    for (int a = 0; a < orbitals; ++a)
      for (int b = 0; b < orbitals; ++b)
        for (int K2 = 0; K2 < cells; ++K2)
          for (int c = 0; c < orbitals; ++c)
            for (int d = 0; d < orbitals; ++d)
              for (int n = -F; n < F; ++n)
                for (int n2 = -F; n2 < F; ++n2) {
                  // ph: k+q a, k b, k' c, k'+q d; pp: k a, q-k b, k' c, q-k' d
                  const int xa = flavour(r.pairs ? K : shifted(K), a), na = r.pairs ? n : shift(n);
                  const int xb = flavour(r.pairs ? shifted(K) : K, b), nb = r.pairs ? shift(n) : n;
                  const int xc = flavour(K2, c), xd = flavour(shifted(K2), d), nd = shift(n2);
                  std::complex<double> same = 0, other = 0;
                  for (int s = 0; s < 2; ++s)
                    if (r.pairs) {
                      const auto left = value(s, xa, na, xc, n2);
                      same += left * value(s, xb, nb, xd, nd) - value(s, xa, na, xd, nd) * value(s, xb, nb, xc, n2);
                      other += left * value(1 - s, xb, nb, xd, nd);
                    } else {
                      const auto left = value(s, xa, na, xb, nb);
                      same += left * value(s, xc, n2, xd, nd) - value(s, xc, n2, xb, nb) * value(s, xa, na, xd, nd);
                      other += left * value(1 - s, xc, n2, xd, nd);
                    }
                  *equal++ += weight / 2 * same.real();
                  *equal++ += weight / 2 * same.imag();
                  *opposite++ += weight / 2 * other.real();
                  *opposite++ += weight / 2 * other.imag();
                }
}

}  // namespace plaq::dca::ctint
