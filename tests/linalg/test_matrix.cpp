#include "plaq/linalg/matrix.hpp"

#include <gtest/gtest.h>

using plaq::linalg::matrix;

TEST(matrix, resize_keeps_the_elements_that_both_shapes_have) {
  matrix<int> a;
  int rows = 0, columns = 0;
  for (auto [r, c] : {std::pair{3, 2}, {5, 5}, {40, 7}, {39, 60}, {300, 61}, {300, 200}, {2, 1}, {256, 256}}) {
    a.resize(r, c);
    ASSERT_EQ(a.rows(), r);
    ASSERT_EQ(a.columns(), c);
    for (int j = 0; j < std::min(c, columns); ++j)
      for (int i = 0; i < std::min(r, rows); ++i) ASSERT_EQ(a(i, j), 1000 * i + j);
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < r; ++i) a(i, j) = 1000 * i + j;
    rows = r, columns = c;
  }
}

TEST(matrix, has_columns_that_do_not_overlap_and_never_lie_a_page_apart) {
  for (int rows : {0, 1, 16, 17, 255, 256, 512, 1024}) {
    matrix<double> a(rows, 3);
    EXPECT_GE(a.stride(), rows);
    EXPECT_EQ(a.column(1) - a.column(0), a.stride());
    if (rows > 0) {
      EXPECT_NE(a.stride() % 256, 0);
    }
  }
}
