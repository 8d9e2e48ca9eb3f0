#include "plaq/linalg/exchanged_inverse.hpp"

#include <cmath>

#include "plaq/linalg/inverse.hpp"
#include "plaq/linalg/sum.hpp"

namespace plaq::linalg {

namespace {
double dot(int n, const double* a, const double* b) {
  return sum_in_lanes<16>(n, [&](int i) { return a[i] * b[i]; });
}
void add(int n, double factor, const double* from, double* to) {
  for (int i = 0; i < n; ++i) to[i] += factor * from[i];
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
  for (int b = 0; b < p; ++b) {
    double* to = left_.column(b);
    std::fill_n(to, n, 0.);
    for (int j = 0; j < n; ++j) add(n, in_.columns(j, b), inverse_.column(j), to);
  }
  for (int b = 0; b < q; ++b) std::copy_n(inverse_.column(out[b]), n, left_.column(p + b));
  middle_.reshape(m, m);
  for (int b = 0; b < m; ++b) {
    for (int a = 0; a < p; ++a)
      middle_(a, b) = (b < p ? in_.corner(a, b) : 0.) - dot(n, in_.rows.column(a), left_.column(b));
    for (int a = 0; a < q; ++a) middle_(p + a, b) = -left_(out[a], b);
  }
  const log_det det = invert(m, middle_.data(), middle_.stride());
  return (q % 2 ? -1 : 1) * det.sign * std::exp(det.log);
}

// The grown matrix has the inverse [[N + L Z F N, -L Z], [-Z F N, Z]], Z = S^-1, L = N [C, e], F = [R; e^T]. D'^-1
// consists of its entries at columns of D that stay and are new (its rows) and rows of D that stay and are new (its
// columns).
void exchanged_inverse::exchange() {
  const int n = size(), p = in_.corner.rows(), q = int(out_.size()), m = p + q;
  right_.reshape(m, n);
  std::vector<double> f(m);
  for (int j = 0; j < n; ++j) {
    const double* column = inverse_.column(j);
    for (int a = 0; a < p; ++a) f[a] = dot(n, in_.rows.column(a), column);
    for (int a = 0; a < q; ++a) f[p + a] = column[out_[a]];
    double* to = right_.column(j);
    std::fill_n(to, m, 0.);
    for (int a = 0; a < m; ++a) add(m, f[a], middle_.column(a), to);
  }
  new_columns_.reshape(n, p);
  for (int b = 0; b < p; ++b) {
    std::fill_n(new_columns_.column(b), n, 0.);
    for (int a = 0; a < m; ++a) add(n, -middle_(a, b), left_.column(a), new_columns_.column(b));
  }
  for (int j = 0; j < n; ++j)
    for (int a = 0; a < m; ++a) add(n, right_(a, j), left_.column(a), inverse_.column(j));

  const int same = std::min(p, q), size = n + std::max(p - q, 0);
  inverse_.resize(size, size);
  const auto place = [&](int a) { return a < same ? out_[a] : n + a - same; };
  for (int b = 0; b < p; ++b) std::copy_n(new_columns_.column(b), n, inverse_.column(place(b)));
  for (int a = 0; a < p; ++a) {
    for (int j = 0; j < n; ++j) inverse_(place(a), j) = -right_(a, j);
  }
  for (int b = 0; b < p; ++b)
    for (int a = 0; a < p; ++a) inverse_(place(a), place(b)) = middle_(a, b);

  std::vector<int> gaps(out_.begin() + same, out_.end());
  std::ranges::sort(gaps, std::greater());
  int last = size - 1;
  for (const int gap : gaps) {
    std::copy_n(inverse_.column(last), size, inverse_.column(gap));
    for (int j = 0; j < size; ++j) inverse_(gap, j) = inverse_(last, j);
    --last;
  }
  inverse_.resize(last + 1, last + 1);
}

}  // namespace plaq::linalg
