#include <gtest/gtest.h>

#include "plaq/linalg/matrix.hpp"

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

TEST(matrix, keeps_its_storage_when_it_shrinks_and_comes_back) {
  matrix<double> a(100, 50);
  const double* const there = a.data();
  const int stride = a.stride();
  for (auto [r, c] : {std::pair{3, 50}, {100, 2}, {0, 0}, {100, 50}}) {
    a.reshape(r, c);
    EXPECT_EQ(a.data(), there);
    EXPECT_EQ(a.stride(), stride);
    a.resize(c < 50 ? r : 7, c);
    EXPECT_EQ(a.data(), there);
  }
}

TEST(matrix, copies_are_matrices_of_their_own) {
  matrix<int> a(2, 3);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 2; ++i) a(i, j) = 10 * i + j;
  matrix<int> b = a;
  b(1, 2) = 7;
  EXPECT_EQ(a(1, 2), 12);
  EXPECT_EQ(b(0, 1), 1);
  const matrix<int> c = std::move(b);
  EXPECT_EQ(c(1, 2), 7);
  EXPECT_EQ(c.columns(), 3);
}
