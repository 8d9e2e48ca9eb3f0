#include <gtest/gtest.h>

#include <vector>

#include "plaq/linalg/transpose.hpp"

namespace plaq::linalg {
namespace {

template <class T>
class transpose_of : public testing::Test {};
using both = testing::Types<float, double>;
TYPED_TEST_SUITE(transpose_of, both);

TYPED_TEST(transpose_of, rows_are_columns_at_any_size_and_in_any_direction) {
  using T = TypeParam;
  constexpr int most = 40, margin = most + 3;
  std::vector<T> in(margin * margin);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = T(i);
  for (const int rows : {0, 1, 4, 7, 16, 19, 33, most})
    for (const int columns : {0, 1, 4, 9, 16, 31, most})
      for (const int down : {margin, -margin})
        for (const int below : {margin, -margin}) {
          const std::size_t first = down > 0 ? 0 : std::size_t(most) * margin;
          const std::size_t to = below > 0 ? 1 : std::size_t(most) * margin + 1;
          std::vector<T> out(in.size(), T(-7)), expected = out;
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) expected[to + j * below + i] = -2 * in[first + i * down + j];
          transpose(rows, columns, -2, &in[first], down, &out[to], below);
          ASSERT_EQ(out, expected) << rows << " x " << columns << ", steps " << down << " and " << below;
        }
}

}  // namespace
}  // namespace plaq::linalg
