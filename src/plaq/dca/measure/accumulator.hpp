// The list of all measurements that are switched on, and the bin that they fill.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "plaq/dca/measure/bin_layout.hpp"
#include "plaq/dca/measure/correlations.hpp"
#include "plaq/dca/measure/single_particle.hpp"
#include "plaq/dca/measure/two_frequency.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

/// Columns of the series, one row a measurement, for autocorrelation times. All from density on are times the sign. The
/// squares are those of the total S^z and of the total N, per site: they show chains that stay in one sector of these
/// conserved numbers.
inline constexpr std::array series_columns{"sign",        "expansion_order", "density", "double_occupancy",
                                           "spin_square", "charge_square"};
using record = std::array<float, series_columns.size()>;

/// Measured values of one chain in one bin.
struct bin_result {
  std::vector<double> sums;    ///< layout: bin_layout.hpp
  std::vector<record> series;  ///< the first measurements of the bin, series_limit at most
};
constexpr std::size_t series_limit = 4096;

/// Throws a runtime_failure that names the chain where a sum is not finite.
void check_finite(const bin_result& bin, std::uint32_t chain);

/// Receiver of the functions that two-particle functions are summed of, in place of the accumulator: see
/// distributed_g4.hpp.
class two_particle_sink {
 public:
  virtual void accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) = 0;
  virtual void begin_bin() = 0;
  virtual void end_bin() = 0;
  /// Seconds so far in which the worker was left to other tasks.
  virtual double waiting_seconds() const = 0;

 protected:
  ~two_particle_sink() = default;
};

/// Accumulator of all measurements of one chain, bin by bin.
class accumulator {
 public:
  /// With a sink the bins have no two-particle functions.
  ///
  /// @pre Sink and rules outlive the accumulator.
  accumulator(const cluster_model& model, const measurement_list& measured, const chain_rules& rules,
              std::uint32_t chain, two_particle_sink* sink = nullptr);

  void begin_bin(std::uint64_t bin);
  /// Measures a sample of the walk and one of its neighbours; sets the MIS weight of the sample.
  void accumulate(sample& s);
  /// Returns the bin; throws a runtime_failure where a sum is not finite.
  bin_result end_bin();
  double waiting_seconds() const { return sink_ ? sink_->waiting_seconds() : 0; }

 private:
  struct entry {
    bin_array array;
    std::unique_ptr<measures::measurement> measurement;
  };
  /// Switches on a measurement, of the array of this name.
  template <class Measurement, class... Arguments>
  const Measurement& add(const char* name, Arguments... arguments);
  void measure(const sample& s);
  /// Adds M and the correlations to the sums of the bin and restarts them from 0.
  void flush();
  std::span<double> sums_of(const bin_array& array);

  const chain_rules& rules_;
  std::uint32_t chain_;
  bin_layout layout_;
  single_particle single_particle_;
  green_at_times green_;
  std::vector<entry> correlations_;
  const measures::density& density_;
  const measures::double_occupancy& double_occupancy_;
  const measures::equal_time_correlation<measures::two_point::spin>& spin_;
  const measures::equal_time_correlation<measures::two_point::charge>& charge_;
  std::unique_ptr<two_frequency> two_frequency_;
  std::unique_ptr<two_particle_sums> two_particle_;
  two_particle_sink* sink_;
  std::size_t sign_, order_, weight_;
  bin_array histogram_;
  two_frequency::planes up_, down_;
  stream_id times_{}, neighbours_{};
  sample flipped_;
  bin_result result_;
};

}  // namespace plaq::dca
