#include <gtest/gtest.h>

#include "kernels.hpp"
#include "numbers.hpp"
#include "plaq/gpu/host_team.hpp"

using namespace plaq::gpu;

TEST(product, is_the_sum_in_order) {
  for (const int rows : {1, 4, 7})
    for (const int columns : {1, 2, 9, 66}) {
      const auto x = floats(product_size(rows, columns), 11);
      std::vector<float> out(2 * rows * columns + 1, 5.f);
      serial_team team;
      two_products(team, rows, columns, x.data(), out.data());
      EXPECT_EQ(out.back(), 5.f);
      for (int n = 0; n < 2; ++n)
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            float sum = 0;
            const float *a = x.data(), *b = a + rows * inner;
            for (int l = 0; l < inner - n * inner; ++l) sum = std::fma(a[i + l * rows], b[l * columns + j], sum);
            EXPECT_EQ(out[(n * rows + i) * columns + j], sum) << n << ": " << i << " " << j;
          }
    }
}

TEST(product, of_any_number_of_threads_has_the_same_bits) {
  const int rows = 13, columns = 35;
  const auto x = floats(product_size(rows, columns), 12);
  std::vector<float> alone(2 * rows * columns);
  serial_team team;
  two_products(team, rows, columns, x.data(), alone.data());
  for (const int threads : {1, 2, 5}) {
    std::vector<float> out(alone.size());
    thread_team::run(threads, [&](thread_team& t) { two_products(t, rows, columns, x.data(), out.data()); });
    EXPECT_EQ(out, alone);
  }
}
