// The list of all measurements that are switched on, and the bin that they fill.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "plaq/dca/measure/bin_layout.hpp"
#include "plaq/dca/measure/correlations.hpp"
#include "plaq/dca/measure/single_particle.hpp"
#include "plaq/dca/measure/two_frequency.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

/// Per measurement, for autocorrelation times; all from density on times s. The squares are those of the total S^z
/// and of the total N, per site: what conserved numbers show of it when chains stay where they are.
inline constexpr std::array series_columns{"sign",        "expansion_order", "density", "double_occupancy",
                                           "spin_square", "charge_square"};
using record = std::array<float, series_columns.size()>;

/// What one chain found in one bin.
struct bin_result {
  std::vector<double> sums;    ///< laid out as bin_layout.hpp says
  std::vector<record> series;  ///< the first measurements of the bin, series_limit at most
};
constexpr std::size_t series_limit = 4096;

/// A runtime_failure that names the chain where a sum is not finite.
void check_finite(const bin_result& bin, std::uint32_t chain);

/// Where two-particle functions are summed when that is not here: see g4_spread.hpp.
class two_particle_sink {
 public:
  virtual void accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) = 0;
  virtual void begin_bin() = 0;
  virtual void end_bin() = 0;
  /// Seconds so far in which this left the worker to others.
  virtual double waited() const = 0;

 protected:
  ~two_particle_sink() = default;
};

class accumulator {
 public:
  /// With a sink bins have no two-particle functions. It and the rules have to outlive the accumulator.
  accumulator(const cluster_model& model, const measurement_list& measured, const chain_rules& rules,
              std::uint32_t chain, two_particle_sink* elsewhere = nullptr);

  void begin_bin(std::uint64_t bin);
  /// Measures a sample of the walk and one of its neighbours; gives the sample its share.
  void accumulate(sample& s);
  bin_result end_bin();
  double waited() const { return elsewhere_ ? elsewhere_->waited() : 0; }

 private:
  void measure(const sample& s);

  const chain_rules& rules_;
  std::uint32_t chain_;
  bin_layout layout_;
  single_particle single_particle_;
  correlations correlations_;
  std::unique_ptr<two_frequency> two_frequency_;
  std::unique_ptr<two_particle_sums> two_particle_;
  two_particle_sink* elsewhere_;
  std::size_t sign_, order_, weight_;
  bin_array histogram_;
  two_frequency::planes up_, down_;
  stream_id neighbours_{};
  sample flipped_;
  bin_result result_;
};

}  // namespace plaq::dca
