// Measures two-particle functions G4(k, k'; q) of the cluster.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "plaq/dca/two_frequency.hpp"

namespace plaq::dca {

/// Which product of two single-particle functions is averaged. k = (K, w_n), q = (Q, 2 pi m / beta):
///   pp           G_up(k, k') G_down(q-k, q-k')                                    averaged over up <-> down
///   transverse  -G_up(k, k') G_down(k'+q, k+q)                                    averaged over up <-> down
///   magnetic     1/2 sum_{s s'} s s' G_s(k+q, k) G_s'(k', k'+q) - 1/2 sum_s G_s(k', k) G_s(k+q, k'+q)
///   charge       the same without s s'
enum class channel { pp, magnetic, charge, transverse };
channel channel_named(std::string_view name);

/// Part `part` of `of` of a function whose values come in rows: rows n part / of, ..., n (part + 1) / of - 1. How
/// a value is summed does not depend on the part that it is in.
struct portion {
  int part = 0, of = 1;
  std::size_t begin(std::size_t rows) const { return rows * std::size_t(part) / std::size_t(of); }
  std::size_t end(std::size_t rows) const { return rows * std::size_t(part + 1) / std::size_t(of); }
};

/// The pairing channel at q = 0. There G_down(-k, -k') = G_down(k, k')*, so that the product is real up to noise
/// and only w > 0 is needed: sums weight * Re[G_up(k, k') G_down(k, k')*].
/// Pairs (K, K') that the point group maps onto each other share one block.
class pairing {
 public:
  /// `orbit[K * sites + K']`: number of the block, 0 ... blocks - 1; every block is the mean over its pairs.
  pairing(const two_frequency& functions, std::vector<int> orbit, int window, portion mine = {});

  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down);

  /// Layout: [block][n = 0 ... F-1][n' = -F ... F-1], the last is a row.
  std::size_t size() const { return sum_.size(); }
  void flush(std::span<double> out);

 private:
  int sites_, frequencies_, window_;
  std::vector<int> orbit_;
  std::size_t first_, last_;  // rows
  std::vector<float> weight_, sum_;
};

/// Any channel at any cluster momentum Q and bosonic index m: sums weight * product, complex, every (k, k').
class vertex_channel {
 public:
  vertex_channel(const two_frequency& functions, channel kind, int transfer, int bosonic, int window,
                 portion mine = {});

  /// `functions` hold frequencies up to window + |m|.
  static int frequencies_needed(int window, int bosonic) { return window + (bosonic < 0 ? -bosonic : bosonic); }

  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down);

  /// Layout: [K][K'][n = -F ... F-1][n' = -F ... F-1][re, im], the last two are a row.
  std::size_t size() const { return sum_.size(); }
  void flush(std::span<double> out);

 private:
  std::complex<float> g(const two_frequency::view& p, int k1, int n1, int k2, int n2) const;

  channel kind_;
  momentum_tables momenta_;
  int frequencies_, transfer_, bosonic_, window_;
  std::size_t first_, last_;  // rows
  std::vector<float> sum_;
};

}  // namespace plaq::dca
