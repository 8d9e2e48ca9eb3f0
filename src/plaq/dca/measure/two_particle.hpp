// Measurements of two-particle functions G4(k, k'; q) of the cluster.
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

/// Array of complex numbers, real and imaginary parts separate.
struct complex_numbers {
  std::vector<float> re, im;
  void resize(std::size_t size) { re.resize(size), im.resize(size); }
};

/// Measurement of the pairing channel at q = 0. There G_down(-k, -k') = G_down(k, k')*, so that the product is real up
/// to noise and only w > 0 is needed: sums weight * Re[G_up(k, k') G_down(k, k')*]. Pairs (K, K') that the point group
/// maps onto each other share one block.
class pairing {
 public:
  /// `orbit[K * sites + K']`: number of the block, 0 ... blocks - 1; every block is the mean over its pairs. Only the
  /// share's rows are summed. Throws a runtime_failure for orbits of another size, negative ones, or a window outside
  /// the measured frequencies.
  pairing(const two_frequency& functions, std::vector<int> orbit, int window, portion share = {});

  /// Adds the rows of G(k, k') that accumulate() reads.
  void add_needed(needed_rows& rows) const;
  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down);

  /// Number of sums. Layout: [block][n = 0 ... F-1][n' = -F ... F-1]; the last axis is a row.
  std::size_t size() const { return 2 * window_ * (last_ - first_); }
  void flush(std::span<double> out);

 private:
  int frequencies_, window_;
  std::vector<int> orbit_;
  std::size_t first_, last_;  // rows
  std::vector<float> weight_;
  std::vector<float> sum_;  // in single precision; every flush adds them to sums in double precision
};

/// Measurement of any channel at any cluster momentum Q and bosonic index m: sums weight * product, complex, for every
/// (k, k').
class vertex_channel {
 public:
  /// Sums only the share's rows. Throws a runtime_failure for a transfer outside the cluster or too few frequencies.
  vertex_channel(const two_frequency& functions, channel kind, int transfer, int bosonic, int window,
                 portion share = {});

  /// Number of positive frequencies of G(k, k') that the products depend on: window + |m|.
  static int frequencies_needed(int window, int bosonic) { return window + (bosonic < 0 ? -bosonic : bosonic); }

  /// Number of floats of the direct parts, 0 in the pp channel.
  std::size_t direct_size() const;
  /// Computes the direct parts of the magnetic and charge channels, sum_s G_s(k+q, k), then sum_s G_s(k, k+q), with the
  /// signs of the channel: real parts [2][K][n], then imaginary parts.
  void measure_direct(const two_frequency::view& up, const two_frequency::view& down, std::span<float> out) const;

  /// Adds the rows of G(k, k') that accumulate() reads.
  void add_needed(needed_rows& rows) const;
  /// Adds weight * product; `direct`: result of measure_direct().
  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down,
                  std::span<const float> direct);

  /// Number of sums. Layout: [K][K'][n = -F ... F-1][n' = -F ... F-1][re, im]; the last two axes are a row.
  std::size_t size() const { return 4 * window_ * (last_ - first_); }
  void flush(std::span<double> out);

 private:
  /// Function of a product at (k1, s n + shift; k2, s n' + shift), s = step; across: n and n' exchanged.
  struct factor {
    int k1, k2;
    int step, shift;
    bool across;
  };
  /// Row G(k1, n1; k2, n2) over n2 of either sign: real part re[step * n2], imaginary part step * im[step * n2].
  struct row_view {
    const float *re, *im;
    std::ptrdiff_t step;
  };
  // Rows of one pair of momenta at a time: columns are read contiguously, and four strips fit the L2 cache.
  static constexpr std::size_t most_rows = 64;
  /// Rows at, at + 1, ... of the function, from n = first of the pair (k1, k2).
  struct row_block {
    std::size_t at, rows;
    int k1, k2, first;
  };
  /// Location of row n1 of block (k1, k2), or of its mirror image: G(-k, -k') = G(k, k')*.
  struct stored_row {
    std::size_t block;
    int row;
    bool mirrored;
  };

  /// Returns the block that begins with row `at`; without rows behind the last one.
  row_block next_block(std::size_t at) const;
  stored_row locate(int k1, int n1, int k2) const;
  row_view row_of(const two_frequency::view& g, int k1, int n1, int k2) const;
  /// Returns the two functions whose product is averaged, at a pair (K, K').
  std::array<factor, 2> factors(int k1, int k2) const;
  /// Copies rows n = first ... last - 1 of a factor over all n', so that products need no index arithmetic.
  void read(const two_frequency::view& g, const factor& f, int first, int last, complex_numbers& out) const;

  channel kind_;
  momentum_tables momenta_;
  int frequencies_, transfer_, bosonic_, window_;
  std::size_t first_, last_;  // rows
  std::array<complex_numbers, 4> strips_;
  complex_numbers sum_;  // in single precision; every flush adds them to sums in double precision
};

}  // namespace plaq::dca
