#include "plaq/linalg/exchanged_inverse.hpp"

#include <cmath>

#include "plaq/linalg/inverse.hpp"
#include "plaq/linalg/sum.hpp"

namespace plaq::linalg {

namespace {
double dot(int n, const double* a, const double* b) {
  return sum_in_lanes<16>(n, [&](int i) { return a[i] * b[i]; });
}
void add(int n, double factor, const double* __restrict from, double* __restrict to) {
  for (int i = 0; i < n; ++i) to[i] += factor * from[i];
}
/// Computes to = A x with the columns of A in their order, four at a time.
void multiply(const matrix<double>& a, const double* x, double* __restrict to) {
  const int n = a.rows(), columns = a.columns();
  std::fill_n(to, n, 0.);
  int j = 0;
  for (; j + 4 <= columns; j += 4) {
    const double *c0 = a.column(j), *c1 = a.column(j + 1), *c2 = a.column(j + 2), *c3 = a.column(j + 3);
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    for (int i = 0; i < n; ++i) {
      double sum = to[i];
      sum += x0 * c0[i];
      sum += x1 * c1[i];
      sum += x2 * c2[i];
      sum += x3 * c3[i];
      to[i] = sum;
    }
  }
  for (; j < columns; ++j) add(n, x[j], a.column(j), to);
}
/// Inverts a small matrix; returns its determinant.
double invert_small(matrix<double>& a) {
  if (a.rows() == 1 && a(0, 0) != 0) {
    const double det = a(0, 0);
    a(0, 0) = 1 / det;
    return det;
  }
  const log_det det = invert(a.rows(), a.data(), a.stride());
  return det.sign * std::exp(det.log);
}
}  // namespace

exchanged_inverse::new_elements& exchanged_inverse::prepare(int count) {
  in_.columns.reshape(size(), count);
  in_.rows.reshape(size(), count);
  in_.corner.reshape(count, count);
  return in_;
}

// With unit columns at the rows that go and unit rows at the columns that go, D grows to
//   [[D, C, e], [R, E, 0], [e^T, 0, 0]],
// whose determinant is that of D' up to the sign (-1)^q: a unit column leaves its row no other part in it. With N
// = D^-1 it is det D det S, S = [[E, 0], [0, 0]] - [R; e^T] N [C, e].
double exchanged_inverse::try_exchange(const std::vector<int>& out) {
  out_ = out;
  const int n = size(), p = in_.corner.rows(), q = int(out.size()), m = p + q;
  left_.reshape(n, m);
  for (int b = 0; b < p; ++b) multiply(inverse_, in_.columns.column(b), left_.column(b));
  for (int b = 0; b < q; ++b) std::copy_n(inverse_.column(out[b]), n, left_.column(p + b));
  middle_.reshape(m, m);
  for (int b = 0; b < m; ++b) {
    for (int a = 0; a < p; ++a)
      middle_(a, b) = (b < p ? in_.corner(a, b) : 0.) - dot(n, in_.rows.column(a), left_.column(b));
    for (int a = 0; a < q; ++a) middle_(p + a, b) = -left_(out[a], b);
  }
  return (q % 2 ? -1 : 1) * invert_small(middle_);
}

// The grown matrix has the inverse [[N + L Z F N, -L Z], [-Z F N, Z]], Z = S^-1, L = N [C, e], F = [R; e^T]. D'^-1
// consists of its entries at columns of D that stay and are new (its rows) and rows of D that stay and are new (its
// columns).
void exchanged_inverse::exchange() {
  const int n = size(), p = in_.corner.rows(), q = int(out_.size()), m = p + q;
  right_.reshape(m, n);
  f_.resize(m);
  for (int j = 0; j < n; ++j) {
    double* column = inverse_.column(j);
    for (int a = 0; a < p; ++a) f_[a] = dot(n, in_.rows.column(a), column);
    for (int a = 0; a < q; ++a) f_[p + a] = column[out_[a]];
    double* to = right_.column(j);
    std::fill_n(to, m, 0.);
    for (int a = 0; a < m; ++a) add(m, f_[a], middle_.column(a), to);
    for (int a = 0; a < m; ++a) add(n, to[a], left_.column(a), column);
  }
  new_columns_.reshape(n, p);
  for (int b = 0; b < p; ++b) {
    std::fill_n(new_columns_.column(b), n, 0.);
    for (int a = 0; a < m; ++a) add(n, -middle_(a, b), left_.column(a), new_columns_.column(b));
  }

  const int same = std::min(p, q), size = n + std::max(p - q, 0);
  inverse_.resize(size, size);
  const auto place = [&](int a) { return a < same ? out_[a] : n + a - same; };
  for (int b = 0; b < p; ++b) std::copy_n(new_columns_.column(b), n, inverse_.column(place(b)));
  for (int a = 0; a < p; ++a) {
    for (int j = 0; j < n; ++j) inverse_(place(a), j) = -right_(a, j);
  }
  for (int b = 0; b < p; ++b)
    for (int a = 0; a < p; ++a) inverse_(place(a), place(b)) = middle_(a, b);

  gaps_.assign(out_.begin() + same, out_.end());
  std::ranges::sort(gaps_, std::greater());
  int last = size - 1;
  for (const int gap : gaps_) {
    std::copy_n(inverse_.column(last), size, inverse_.column(gap));
    for (int j = 0; j < size; ++j) inverse_(gap, j) = inverse_(last, j);
    --last;
  }
  inverse_.resize(last + 1, last + 1);
}

}  // namespace plaq::linalg
