#include "plaq/dca/ctint/two_particle.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/phase_sums.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca::ctint {

namespace {

using complex = two_frequency::complex;

/// Product without the checks for infinities of operator*.
complex times(complex a, complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

two_frequency::two_frequency(const interacting_cluster& cluster, const two_particle_list& measured)
    : cluster_(cluster), frequencies_(measured.frequencies), flavours_(cluster.flavours()) {
  const auto cells = std::size_t(cluster.cells), orbitals = std::size_t(cluster.orbitals);
  const momentum_tables& momenta = cluster.momenta;
  check(momenta.fourier.size() == cells * cells && momenta.sum.size() == cells * cells && momenta.minus.size() == cells,
        "ctint: momentum tables of another cluster");
  check(measured.g0.size() == cluster.g0.size() * cells * orbitals * orbitals * std::size_t(frequencies_),
        "ctint: g0 must be [species][K][a][b][n]");
  // G_ab(K, -iw) = G_ab(-K, iw)*
  const std::size_t elements = orbitals * orbitals;
  for (std::size_t species = 0; species < cluster.g0.size(); ++species)
    for (std::size_t K = 0; K < cells; ++K)
      for (std::size_t ab = 0; ab < elements; ++ab)
        for (int n = -frequencies_; n < frequencies_; ++n) {
          const std::size_t row = n < 0 ? std::size_t(momenta.minus[K]) : K;
          const auto value = measured.g0[((species * cells + row) * elements + ab) * std::size_t(frequencies_) +
                                         std::size_t(n < 0 ? -1 - n : n)];
          g0_.emplace_back(n < 0 ? std::conj(value) : value);
        }
}

const two_frequency::complex* two_frequency::bath(int species, int K, int a, int b) const {
  const int index = ((species * cluster_.cells + K) * cluster_.orbitals + a) * cluster_.orbitals + b;
  return &g0_[std::size_t(index) * std::size_t(2 * frequencies_)];
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
            for (std::size_t i = 0; i < block; ++i) out[i] += times(factor, in[i]);
          }
      }
    g_.swap(scratch_);
  }
}

void two_frequency::multiply_by_bath(int species) {
  const int count = 2 * frequencies_, orbitals = cluster_.orbitals, cells = cluster_.cells;
  const float scale = float(-1 / (cluster_.beta * cells));
  const auto at = [&](int x, int y, int n) {
    return &g_[(std::size_t(x * flavours_ + y) * std::size_t(count) + std::size_t(n)) * std::size_t(count)];
  };
  std::vector<complex> half(std::size_t(orbitals * orbitals * count));
  const auto half_at = [&](int a, int d) { return &half[std::size_t((a * orbitals + d) * count)]; };
  for (int K = 0; K < cells; ++K)
    for (int K2 = 0; K2 < cells; ++K2)
      for (int n = 0; n < count; ++n) {
        std::ranges::fill(half, 0.f);
        for (int a = 0; a < orbitals; ++a)
          for (int c = 0; c < orbitals; ++c) {
            const complex left = scale * bath(species, K, a, c)[n];
            for (int d = 0; d < orbitals; ++d) {
              const complex* in = at(K * orbitals + c, K2 * orbitals + d, n);
              complex* out = half_at(a, d);
              for (int n2 = 0; n2 < count; ++n2) out[n2] += times(left, in[n2]);
            }
          }
        for (int a = 0; a < orbitals; ++a)
          for (int b = 0; b < orbitals; ++b) {
            complex* out = at(K * orbitals + a, K2 * orbitals + b, n);
            std::fill(out, out + count, complex(0));
            for (int d = 0; d < orbitals; ++d) {
              const complex *in = half_at(a, d), *right = bath(species, K2, d, b);
              for (int n2 = 0; n2 < count; ++n2) out[n2] += times(in[n2], right[n2]);
            }
            if (K == K2) out[n] += bath(species, K, a, b)[n];
          }
      }
}

std::size_t two_particle::size(const interacting_cluster& cluster, const two_particle_list& measured,
                               const pair_request& r) {
  const auto side = std::size_t(cluster.cells * cluster.orbitals * cluster.orbitals * 2 * measured.window);
  return 2 * parts(r) * side * side;
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
  for (std::size_t r = 0; r < sums_.size(); ++r) sums_[r].assign(size(cluster_, measured_, measured_.requests[r]), 0.);
}

void two_particle::accumulate(const sample& s) {
  for (std::size_t block = 0; block < 2; ++block) blocks_[block].evaluate(s.blocks[block], cluster_.species[block]);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const pair_request& r = measured_.requests[i];
    double* sum = sums_[i].data();
    if (r.pairs)
      add_pp(r, s.sign / 2, sum);
    else
      add_ph(r, s.sign / 2, sum, sum + sums_[i].size() / 2);
  }
}

namespace {

void add_row(std::span<const complex> row, double weight, double* sum) {
  for (const complex value : row) {
    *sum++ += weight * value.real();
    *sum++ += weight * value.imag();
  }
}

/// Row of a function: the pair (K, a, b) with the frequency n, and the pair (K2, c, d) of its elements.
struct row_index {
  int K, a, b, K2, c, d, n;
};

/// Calls f(row_index) for all rows in the order of the sums.
void each_row(int cells, int orbitals, int window, auto&& f) {
  for (int K = 0; K < cells; ++K)
    for (int a = 0; a < orbitals; ++a)
      for (int b = 0; b < orbitals; ++b)
        for (int K2 = 0; K2 < cells; ++K2)
          for (int c = 0; c < orbitals; ++c)
            for (int d = 0; d < orbitals; ++d)
              for (int n = -window; n < window; ++n) f(row_index{K, a, b, K2, c, d, n});
}

}  // namespace

void two_particle::add_pp(const pair_request& r, double weight, double* sum) const {
  const int F = measured_.window;
  const momentum_tables& momenta = cluster_.momenta;
  const auto partner = [&](int K) { return momenta.plus(momenta.minus[std::size_t(K)], r.transfer); };
  std::vector<complex> row(std::size_t(2 * F));
  each_row(cluster_.cells, cluster_.orbitals, F, [&](const row_index& x) {
    std::ranges::fill(row, 0.f);
    for (std::size_t s = 0; s < 2; ++s) {
      const complex* left = blocks_[s].row(flavour(x.K, x.a), x.n, flavour(x.K2, x.c)) + measured_.frequencies - F;
      const complex* right =
          blocks_[1 - s].row(flavour(partner(x.K), x.b), r.bosonic - 1 - x.n, flavour(partner(x.K2), x.d)) +
          measured_.frequencies + r.bosonic - 1 + F;
      for (int i = 0; i < 2 * F; ++i) row[std::size_t(i)] += times(left[i], right[-i]);
    }
    add_row(row, weight, sum);
    sum += 4 * F;
  });
}

void two_particle::find_diagonals(const pair_request& r) {
  const int F = measured_.window, orbitals = cluster_.orbitals;
  diagonals_.clear();
  for (std::size_t s = 0; s < 2; ++s)
    for (int K = 0; K < cluster_.cells; ++K)
      for (int c = 0; c < orbitals; ++c)
        for (int d = 0; d < orbitals; ++d)
          for (int n = -F; n < F; ++n) {
            const int x = flavour(K, c), y = flavour(cluster_.momenta.plus(K, r.transfer), d);
            diagonals_.push_back(blocks_[s].row(x, n, y)[n + r.bosonic + measured_.frequencies]);
          }
}

void two_particle::add_ph(const pair_request& r, double weight, double* equal, double* opposite) {
  const int F = measured_.window, orbitals = cluster_.orbitals, m = r.bosonic, offset = measured_.frequencies;
  find_diagonals(r);
  const std::size_t of_spin = diagonals_.size() / 2;
  std::vector<complex> same(std::size_t(2 * F)), other(same.size());
  each_row(cluster_.cells, orbitals, F, [&](const row_index& x) {
    std::ranges::fill(same, 0.f);
    std::ranges::fill(other, 0.f);
    const int xa = flavour(cluster_.momenta.plus(x.K, r.transfer), x.a), xb = flavour(x.K, x.b);
    const int xc = flavour(x.K2, x.c), xd = flavour(cluster_.momenta.plus(x.K2, r.transfer), x.d);
    const std::size_t at = std::size_t(((x.K2 * orbitals + x.c) * orbitals + x.d) * 2 * F);
    for (std::size_t s = 0; s < 2; ++s) {
      const complex left = blocks_[s].row(xa, x.n + m, xb)[x.n + offset];
      const complex *own = &diagonals_[s * of_spin + at], *reversed = &diagonals_[(1 - s) * of_spin + at];
      const complex* crossed = blocks_[s].row(xa, x.n + m, xd) + offset - F + m;
      const complex* back = blocks_[s].row(xc, -F, xb) + x.n + offset;
      for (int i = 0; i < 2 * F; ++i) {
        same[std::size_t(i)] += times(left, own[i]) - times(back[std::ptrdiff_t(i) * 2 * offset], crossed[i]);
        other[std::size_t(i)] += times(left, reversed[i]);
      }
    }
    add_row(same, weight, equal);
    add_row(other, weight, opposite);
    equal += 4 * F;
    opposite += 4 * F;
  });
}

}  // namespace plaq::dca::ctint
