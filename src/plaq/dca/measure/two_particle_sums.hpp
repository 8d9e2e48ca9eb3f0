// The sums of all two-particle functions that are measured in one bin of one chain, or a share of each.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plaq/dca/measure/bin_layout.hpp"
#include "plaq/dca/measure/two_particle.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

class two_particle_sums {
 public:
  /// After so many single-precision sums move to double: their rounding stays below 1e-6 of the sum.
  static constexpr int configurations_per_flush = 128;

  two_particle_sums(const measurement_list& measured, const two_frequency& functions, portion mine = {});

  void begin_bin();
  /// What two vectors are enough for, see vertex_channel: of all channels, until the next call.
  std::span<const float> measure_direct(const two_frequency::view& up, const two_frequency::view& down);
  std::size_t direct_size() const { return direct_.size(); }
  /// The rest of what accumulate reads.
  needed_rows needed() const;
  void accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down,
                  std::span<const float> direct);
  /// Laid out as share_of says for `mine`.
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
