// A column-major matrix that keeps its storage when it shrinks or is asked for a smaller shape.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace plaq::linalg {

template <class T>
class matrix {
 public:
  matrix() = default;
  matrix(int rows, int columns) { reshape(rows, columns); }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int stride() const { return stride_; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  T* column(int j) { return data_.data() + std::size_t(j) * stride_; }
  const T* column(int j) const { return data_.data() + std::size_t(j) * stride_; }
  T& operator()(int i, int j) { return column(j)[i]; }
  const T& operator()(int i, int j) const { return column(j)[i]; }

  /// Sets the shape; the elements are then unspecified.
  void reshape(int rows, int columns) {
    if (rows > stride_) stride_ = padded(rows);
    const std::size_t need = std::size_t(stride_) * columns;
    if (data_.size() < need) data_.resize(need);
    rows_ = rows;
    columns_ = columns;
  }

  /// Sets the shape and keeps the elements that both shapes have.
  void resize(int rows, int columns) {
    if (rows > stride_) {
      const int stride = padded(rows + rows / 4);
      std::vector<T> data(std::size_t(stride) * std::max(columns, columns_));
      for (int j = 0; j < std::min(columns, columns_); ++j)
        std::copy_n(column(j), std::min(rows, rows_), data.data() + std::size_t(j) * stride);
      data_.swap(data);
      stride_ = stride;
    } else if (data_.size() < std::size_t(stride_) * columns) {
      data_.resize(std::size_t(stride_) * (columns + columns / 4));
    }
    rows_ = rows;
    columns_ = columns;
  }

 private:
  // Whole cache lines, but never a multiple of a page: columns would evict each other.
  static int padded(int rows) {
    const int stride = (rows + 15) / 16 * 16;
    return stride % 256 == 0 ? stride + 16 : stride;
  }

  int rows_ = 0, columns_ = 0, stride_ = 0;
  std::vector<T> data_;
};

}  // namespace plaq::linalg
