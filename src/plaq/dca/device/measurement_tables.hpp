// Tables of the measurements on a device, common to all chains.
#pragma once
#include <map>
#include <vector>

#include "plaq/dca/device/measurements.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca::device {

/// Returns the sizes of the sums and of the workspace of these measurements.
measurement_sizes sizes_of(int sites, const measurement_list& measured);

/// Tables of the measurements in the memory of a device.
class measurement_tables {
 public:
  /// Throws a runtime_failure for tables of other sizes or too few frequencies.
  measurement_tables(const problem& p, gpu::device where);

  const measurement_rules& rules() const { return rules_; }
  /// Returns the bath of a chain at the frequencies of two-particle functions, null without these.
  const number* g0(std::uint32_t chain) const;

 private:
  template <class T>
  const T* keep(const std::vector<T>& table);

  gpu::device where_;
  measurement_rules rules_{};
  std::vector<gpu::memory> kept_;
  std::vector<const number*> g0_;  // one, or one for every chain
};

}  // namespace plaq::dca::device
