// Column-major matrix that keeps its storage when it shrinks or gets a smaller shape.
#pragma once
#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace plaq::linalg {

inline constexpr int cache_line = 64;  // bytes

/// Allocator of memory that begins with a cache line, so that vectors of that width do not cross two.
template <class T>
struct in_lines {
  using value_type = T;
  in_lines() = default;
  template <class Other>
  in_lines(const in_lines<Other>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(cache_line))); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(cache_line)); }
  bool operator==(const in_lines&) const = default;
};

template <class T>
class matrix {
 public:
  matrix() = default;
  matrix(int rows, int columns) { reshape(rows, columns); }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int stride() const { return stride_; }
  /// Number of rows including the padding of their last cache line: products that write whole vectors need no copy of
  /// the edge.
  int whole_rows() const { return whole(rows_, cache_line / int(sizeof(T))); }
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
      std::vector<T, in_lines<T>> data(std::size_t(stride) * std::max(columns, columns_));
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
  static int whole(int rows, int unit) { return (rows + unit - 1) / unit * unit; }

  // Whole cache lines, but never a multiple of a page: columns would evict each other.
  static int padded(int rows) {
    const int stride = whole(rows, 16);
    return stride % 256 == 0 ? stride + 16 : stride;
  }

  int rows_ = 0, columns_ = 0, stride_ = 0;
  std::vector<T, in_lines<T>> data_;
};

}  // namespace plaq::linalg
