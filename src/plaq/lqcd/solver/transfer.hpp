// Transfer between the sites of aggregates and the coarse lattice.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "plaq/lqcd/solver/aggregation.hpp"
#include "plaq/lqcd/solver/coarse_vector.hpp"

namespace plaq::lqcd {

/// Matrix V whose columns are test vectors, cut into aggregates and chiralities and made orthonormal there. A site has
/// `rows` numbers, those of the upper chirality first; so V is [slot][rows][row of vectors] (multigrid_kernel.hpp).
/// Fields are numbers by slot, [slot][rows][re, im].
class transfer {
 public:
  transfer(std::shared_ptr<const aggregation> aggregates, int rows, int vectors);

  const aggregation& aggregates() const { return *aggregates_; }
  int rows() const { return rows_; }
  int vectors() const { return vectors_; }
  std::vector<float> field() const { return std::vector<float>(slots() * rows_ * 2); }  ///< of zeros
  /// Rows of a slot.
  const float* at(std::int64_t slot) const { return V_.data() + slot * size_of_slot(); }
  std::int64_t size_of_slot() const { return std::int64_t(rows_) * 2 * vectors_; }

  /// Sets column j of V from a field.
  void set_column(context& ctx, int j, const std::vector<float>& numbers);
  /// Makes columns orthonormal. Linearly dependent ones become zero.
  void orthonormalise(context& ctx);

  /// Returns V^+ f, with f on all sites or on odd ones, and computes f = V c.
  coarse_vector restrict(context& ctx, const std::vector<float>& f, bool odd) const;
  void prolong(context& ctx, std::vector<float>& f, const coarse_vector& c, bool odd) const;

 private:
  std::size_t slots() const { return std::size_t(aggregates_->count() * aggregates_->sites()); }
  /// Slots of an aggregate, all or odd ones: the first, and their number.
  std::pair<std::int64_t, std::int64_t> range(std::int64_t a, bool odd) const;

  std::shared_ptr<const aggregation> aggregates_;
  int rows_, vectors_;
  std::vector<float> V_;
};

}  // namespace plaq::lqcd
