// Spinors in the order of the slots of aggregates.
#pragma once
#include <memory>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"
#include "plaq/lqcd/solver/aggregation.hpp"

namespace plaq::lqcd {

/// Copies between spinors of a layout and numbers by slot, [slot][12][re, im].
class spinor_slots {
 public:
  spinor_slots(std::shared_ptr<const site_layout> layout, const aggregation& aggregates);

  site_layout::location location(std::int64_t slot) const { return locations_[slot]; }
  /// Copies the spinors to the slots of their sites, and back; odd sites alone for a field on odd sites.
  void gather(context& ctx, const spinors<float>& f, std::vector<float>& numbers) const;
  void scatter(context& ctx, const std::vector<float>& numbers, spinors<float>& f) const;

 private:
  std::shared_ptr<const site_layout> layout_;
  std::vector<site_layout::location> locations_;
  std::vector<std::int64_t> slot_in_group_;
};

}  // namespace plaq::lqcd
