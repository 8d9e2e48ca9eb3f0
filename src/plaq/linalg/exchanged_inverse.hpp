// The inverse of a matrix of which a few rows and columns at a time are exchanged for others.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "plaq/linalg/matrix.hpp"

namespace plaq::linalg {

/// Holds D^-1 in double precision. An exchange takes elements out of D, each with its row and its column, and
/// brings others in, in one step: with D nearly singular on the way, as where one point is replaced by another, it
/// is exact all the same.
class exchanged_inverse {
 public:
  /// What comes in: D's new columns over the old rows, its new rows over the old columns, both with one column for
  /// each new element, and where they cross (row, column). Elements at rows and columns that go out are not used,
  /// but have to be finite.
  struct newcomers {
    matrix<double> columns, rows, corner;
  };

  /// Makes room for the inverse of a matrix of this size, which is to be filled in.
  matrix<double>& reset(int size) {
    inverse_.reshape(size, size);
    return inverse_;
  }
  int size() const { return inverse_.rows(); }
  const matrix<double>& inverse() const { return inverse_; }

  /// To be filled in before try_exchange.
  newcomers& offered(int count);
  /// det D'/det D if the elements `out` went and those offered came.
  double try_exchange(const std::vector<int>& out);
  /// Does what was tried last. New elements take the places of those that go, in this order, or come last; the
  /// last ones fill gaps, the highest gap first.
  void exchange();

  /// The same for a list that goes with D's rows.
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
  newcomers in_;
  std::vector<int> out_;
  matrix<double> left_, middle_;  // N [C, e_out], S^-1
  matrix<double> right_, new_columns_;
};

}  // namespace plaq::linalg
