// Sums of all two-particle functions of one bin of one chain, or of a share of their rows.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plaq/dca/measure/bin_layout.hpp"
#include "plaq/dca/measure/two_particle.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

/// List of the two-particle functions that are measured, with their sums.
class two_particle_sums {
 public:
  /// Number of configurations in sums of single precision: their rounding stays below 1e-6 of the sum.
  static constexpr int configurations_per_flush = 128;

  two_particle_sums(const measurement_list& measured, const two_frequency& functions, portion share = {});

  void begin_bin();
  /// Returns the direct parts of all channels (see vertex_channel), valid until the next call.
  std::span<const float> measure_direct(const two_frequency::view& up, const two_frequency::view& down);
  std::size_t direct_size() const { return direct_.size(); }
  /// Returns the rows of G(k, k') that accumulate() reads.
  needed_rows needed() const;
  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down,
                  std::span<const float> direct);
  /// Returns the sums in the layout share_of(..., share).
  std::vector<double> end_bin();

 private:
  void flush();

  bin_layout layout_;
  std::unique_ptr<pairing> pairing_;
  std::vector<vertex_channel> channels_;
  std::vector<double> sums_;
  int sites_;
  std::vector<float> direct_;
  int since_flush_ = 0;
};

}  // namespace plaq::dca
