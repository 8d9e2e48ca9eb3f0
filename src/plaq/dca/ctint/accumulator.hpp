// Measurements of the interaction expansion, and the bin that they fill.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/ctint/green_at_times.hpp"
#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/ctint/sample.hpp"
#include "plaq/dca/ctint/two_particle.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/measure/bin_layout.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca::ctint {

/// Returns the layout of a bin. All arrays are sums over the bin's measurements of sign * value, `histogram` of 1:
///   sign, order               1 and the number of vertices
///   weight                    1, for averages of the arrays below
///   single_particle           M_ab(R, i w), mean over the blocks of a species
///   equal_time                <c_{R a} c+_{0 b}>, likewise
///   pairs, static_pairs       <n_{R a} n_{0 b}> of two blocks at equal times, and int_0^beta dtau <n(tau) n(0)>
///   channel_i                 two_particle
///   vertices                  <c+_p c_q c+_p' c_q'> of the legs of a type, mean over the cells
bin_layout layout_of(const interacting_cluster& model, const measurement_list& measured);

/// Accumulator of all measurements of one chain, bin by bin.
class accumulator {
 public:
  /// @pre All arguments outlive the accumulator.
  accumulator(const interacting_cluster& model, const measurement_list& measured, const chain_rules& rules,
              std::uint32_t chain);

  void begin_bin(std::uint64_t bin);
  void accumulate(const sample& s);
  /// Returns the bin; throws a runtime_failure where a sum is not finite.
  bin_result end_bin();
  double waiting_seconds() const { return 0; }

 private:
  void measure_single_particle(const sample& s);
  record measure_correlations(const sample& s);
  double* sums(const char* name) { return result_.sums.data() + array_named(layout_, name).offset; }

  const interacting_cluster& model_;
  const measurement_list& measured_;
  const chain_rules& rules_;
  std::uint32_t chain_;
  bin_layout layout_;
  const std::vector<int>& difference_;
  std::vector<int> blocks_of_species_;
  green_at_times green_;
  stream_id times_{};
  std::vector<std::vector<double>> single_particle_;  // [species][R, a, b, w, re and im]
  linalg::matrix<float> create_phase_, annihilate_phase_, transformed_;
  std::vector<double> equal_products_, static_products_;  // [x][y] at equal and at different times
  std::unique_ptr<two_particle> two_particle_;
  bin_result result_;
};

}  // namespace plaq::dca::ctint
