// Inverse of a matrix when a few rows and columns at a time are exchanged for others.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "plaq/linalg/matrix.hpp"

namespace plaq::linalg {

/// D^-1 in double precision. An exchange removes elements of D, each with its row and its column, and adds others in
/// one step. So it is exact even if D without both is nearly singular, as when one point is replaced by another.
class exchanged_inverse {
 public:
  /// Elements to add: D's new columns over the old rows, its new rows over the old columns, both with one column for
  /// each new element, and the block where they cross (row, column). Entries at rows and columns that are removed are
  /// not used, but have to be finite.
  struct new_elements {
    matrix<double> columns, rows, corner;
  };

  /// Storage for the inverse of a matrix of this size, to be filled in by the caller.
  matrix<double>& reset(int size) {
    inverse_.reshape(size, size);
    return inverse_;
  }
  int size() const { return inverse_.rows(); }
  const matrix<double>& inverse() const { return inverse_; }

  /// Storage for `count` new elements, to be filled in before try_exchange.
  new_elements& prepare(int count);
  /// Returns det D'/det D if the elements `out` were removed and the new ones added.
  double try_exchange(const std::vector<int>& out);
  /// Carries out the exchange that was tried last. New elements take the positions of the removed ones, in this order,
  /// or come last; the last ones fill gaps, the highest gap first.
  void exchange();

  /// Carries out the exchange in a list that follows D's rows.
  template <class T>
  static void exchange_in(std::vector<T>& list, std::vector<int> out, const std::vector<T>& in) {
    const std::size_t same = std::min(out.size(), in.size());
    for (std::size_t i = 0; i < same; ++i) list[out[i]] = in[i];
    list.insert(list.end(), in.begin() + same, in.end());
    out.erase(out.begin(), out.begin() + same);
    std::ranges::sort(out, std::greater());
    for (const int gap : out) {
      list[gap] = list.back();
      list.pop_back();
    }
  }

 private:
  matrix<double> inverse_;
  new_elements in_;
  std::vector<int> out_;
  matrix<double> left_, middle_;  // N [C, e_out], S^-1
  matrix<double> right_, new_columns_;
  std::vector<double> f_;  // one column of F N
  std::vector<int> gaps_;
};

}  // namespace plaq::linalg
