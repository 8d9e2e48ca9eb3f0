// Measurement of two-particle functions with orbitals.
#pragma once
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/ctint/sample.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca::ctint {

/// Function G of one block between x = (K, a), n and x' = (K', b), n' for all n, n' = -F ... F-1, w_n = (2n+1) pi/beta:
///   G(x n, x' n') = G0_ab(K, n) delta - G0(K, n) M(K n, K' n') G0(K', n') / (beta N_c), matrices in the orbitals,
///   M_cd(K n, K' n') = sum_pq e^{i w tau_p - i K R_p} M_pq e^{-i w' tau_q + i K' R_q}, p creators of c, q annihilators
///   of d.
class two_frequency {
 public:
  using complex = std::complex<float>;

  /// Measured g0: [species][K][a][b][n = 0 ... frequencies - 1]. Throws a runtime_failure for tables of other sizes.
  two_frequency(const interacting_cluster& cluster, const two_particle_list& measured);

  void evaluate(const block_sample& s, int species);

  /// Row over n' of the function, from n' = -F on.
  const complex* row(int x, int n, int x2) const {
    return &g_[(std::size_t(x * flavours_ + x2) * 2 * frequencies_ + std::size_t(n + frequencies_)) * 2 * frequencies_];
  }

 private:
  /// Bath function at n = -F ... F-1.
  const complex* bath(int species, int K, int a, int b) const;
  void transform(const block_sample& s);
  void to_momenta();
  void multiply_by_bath(int species);

  const interacting_cluster& cluster_;
  int frequencies_, flavours_;
  std::vector<complex> g0_;           // [species][K][a][b][n]
  std::vector<complex> g_, scratch_;  // [x][x'][n][n']
  linalg::matrix<float> create_phase_, annihilate_phase_, transformed_, parts_;
};

/// Measurement of pp and ph functions at transfer q = (Q, m), mean over the reversal of spins, for k = (K, n):
///   pp, opposite spins  G_s(k a; k' c) G_-s(q-k b; q-k' d)
///   ph, equal spins     G_s(k+q a; k b) G_s(k' c; k'+q d) - G_s(k' c; k b) G_s(k+q a; k'+q d)
///   ph, opposite spins  G_s(k+q a; k b) G_-s(k' c; k'+q d)
class two_particle {
 public:
  using complex = two_frequency::complex;

  /// @pre Both arguments outlive the measurement. Throws a runtime_failure unless there are two blocks, and where a
  /// transfer is no momentum.
  two_particle(const interacting_cluster& cluster, const two_particle_list& measured);

  void begin_bin();
  void accumulate(const sample& s);

  /// Number of spin parts of a function, those above in their order.
  static std::size_t parts(const pair_request& r) { return r.pairs ? 1 : 2; }
  /// Number of doubles of one function: [part][K][a][b][K'][c][d][n][n'][re, im].
  static std::size_t size(const interacting_cluster& cluster, const two_particle_list& measured, const pair_request& r);
  std::span<const double> sums(std::size_t request) const { return sums_[request]; }

 private:
  void add_pp(const pair_request& r, double weight, double* sum) const;
  void add_ph(const pair_request& r, double weight, double* equal, double* opposite);
  void find_diagonals(const pair_request& r);
  int flavour(int K, int a) const { return K * cluster_.orbitals + a; }

  const interacting_cluster& cluster_;
  const two_particle_list& measured_;
  std::vector<two_frequency> blocks_;
  std::vector<std::vector<double>> sums_;
  std::vector<complex> diagonals_;  // [s][K][c][d][n] G_s(k c; k+q d) of ph
};

}  // namespace plaq::dca::ctint
