// What measurements of all chains have in common, at a place.
#pragma once
#include <map>
#include <vector>

#include "plaq/dca/device/measurements.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca::device {

/// Of the sums of such measurements in every chain, and of its scratch.
measurement_sizes sizes_of(int sites, const measurement_list& measured);

class measurement_tables {
 public:
  measurement_tables(const problem& p, gpu::device where);

  const measurement_rules& rules() const { return rules_; }
  /// The bath of a chain at the frequencies of two-particle functions.
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
