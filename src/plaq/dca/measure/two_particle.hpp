// Measures two-particle functions G4(k, k'; q) of the cluster.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "plaq/base/portion.hpp"
#include "plaq/dca/channels.hpp"
#include "plaq/dca/measure/packed_rows.hpp"
#include "plaq/dca/measure/two_frequency.hpp"

namespace plaq::dca {

/// Real and imaginary parts apart.
struct complex_numbers {
  std::vector<float> re, im;
  void resize(std::size_t size) { re.resize(size), im.resize(size); }
};

/// The pairing channel at q = 0. There G_down(-k, -k') = G_down(k, k')*, so that the product is real up to noise
/// and only w > 0 is needed: sums weight * Re[G_up(k, k') G_down(k, k')*].
/// Pairs (K, K') that the point group maps onto each other share one block.
class pairing {
 public:
  /// `orbit[K * sites + K']`: number of the block, 0 ... blocks - 1; every block is the mean over its pairs.
  pairing(const two_frequency& functions, std::vector<int> orbit, int window, portion mine = {});

  /// What accumulate reads.
  void add_needed(needed_rows& rows) const;
  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down);

  /// Layout: [block][n = 0 ... F-1][n' = -F ... F-1], the last is a row.
  std::size_t size() const { return 2 * window_ * (last_ - first_); }
  void flush(std::span<double> out);

 private:
  int frequencies_, window_;
  std::vector<int> orbit_;
  std::size_t first_, last_;  // rows
  std::vector<float> weight_;
  std::vector<float> sum_;  // in single precision while they are small; double takes them over in every flush
};

/// Any channel at any cluster momentum Q and bosonic index m: sums weight * product, complex, every (k, k').
class vertex_channel {
 public:
  vertex_channel(const two_frequency& functions, channel kind, int transfer, int bosonic, int window,
                 portion mine = {});

  /// `functions` hold frequencies up to window + |m|.
  static int frequencies_needed(int window, int bosonic) { return window + (bosonic < 0 ? -bosonic : bosonic); }

  /// In the magnetic and charge channels sum_s G_s(k+q, k), then sum_s G_s(k, k+q), with their signs: real parts
  /// [2][K][n], then imaginary parts. Empty in the others.
  std::size_t direct_size() const;
  void measure_direct(const two_frequency::view& up, const two_frequency::view& down, std::span<float> out) const;

  /// What accumulate reads.
  void add_needed(needed_rows& rows) const;
  /// `direct` as measure_direct gives it.
  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down,
                  std::span<const float> direct);

  /// Layout: [K][K'][n = -F ... F-1][n' = -F ... F-1][re, im], the last two are a row.
  std::size_t size() const { return 4 * window_ * (last_ - first_); }
  void flush(std::span<double> out);

 private:
  /// One function of a product at (k1, s n + shift; k2, s n' + shift), s = step; across: n and n' exchanged.
  struct factor {
    int k1, k2;
    int step, shift;
    bool across;
  };
  /// G(k1, n1; k2, n2) over n2 of either sign: real part re[step * n2], imaginary part step * im[step * n2].
  struct line {
    const float *re, *im;
    std::ptrdiff_t step;
  };
  // Of one pair of momenta at a time: columns are read in one piece, and four strips stay in the second cache.
  static constexpr std::size_t most_rows = 64;
  /// Rows at, at + 1, ... of this share, from n = first of the pair (k1, k2).
  struct piece {
    std::size_t at, rows;
    int k1, k2, first;
  };
  /// Row n1 of block (k1, k2), or where its mirror image is stored: G(-k, -k') = G(k, k')*.
  struct place {
    std::size_t block;
    int row;
    bool mirrored;
  };

  /// No rows: that was the last one.
  piece next_piece(std::size_t at) const;
  place place_of(int k1, int n1, int k2) const;
  line row(const two_frequency::view& g, int k1, int n1, int k2) const;
  /// The two whose product is averaged, at a pair (K, K').
  std::array<factor, 2> factors(int k1, int k2) const;
  /// Rows n = first ... last - 1 over all n' of a factor, so that products need no index arithmetic.
  void read(const two_frequency::view& g, const factor& f, int first, int last, complex_numbers& out) const;

  channel kind_;
  momentum_tables momenta_;
  int frequencies_, transfer_, bosonic_, window_;
  std::size_t first_, last_;  // rows
  std::array<complex_numbers, 4> strips_;
  complex_numbers sum_;  // in single precision while they are small; double takes them over in every flush
};

}  // namespace plaq::dca
