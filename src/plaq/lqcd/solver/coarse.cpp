#include "plaq/lqcd/solver/coarse.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/solver/multigrid_kernel.hpp"

namespace plaq::lqcd {

namespace {

using number = std::complex<double>;

const std::vector<int> all_directions{0, 1, 2, 3, 4, 5, 6, 7};

/// Inverts a by Gauss and Jordan, with the largest number of a column as pivot.
void invert_in_place(std::vector<number>& a, int n) {
  std::vector<int> pivots(n);
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::norm(a[i * n + k]) > std::norm(a[pivot * n + k])) pivot = i;
    pivots[k] = pivot;
    for (int j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    const number p = 1.0 / a[k * n + k];
    a[k * n + k] = 1;
    for (int j = 0; j < n; ++j) a[k * n + j] *= p;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const number f = std::exchange(a[i * n + k], 0);
      for (int j = 0; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
    }
  }
  for (int k = n - 1; k >= 0; --k)
    for (int i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + pivots[k]]);
}

/// Transposes from [row][re, im][column] to [column][re, im][row].
void transpose(int n, const float* from, float* to) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      to[j * 2 * n + i] = from[i * 2 * n + j], to[j * 2 * n + n + i] = from[i * 2 * n + n + j];
}

}  // namespace

coarse_matrix::coarse_matrix(context& ctx, std::shared_ptr<const aggregation> aggregates, int size,
                             const coarse_links& links)
    : ctx_(ctx), aggregates_(std::move(aggregates)), size_(size), even_(aggregates_->count(0), size) {
  const std::size_t matrix = 2 * std::size_t(size) * size, count = aggregates_->count();
  X_.resize(count * matrix), inverse_.resize(count * matrix), Y_.resize(count * neighbours * matrix);
  // Couplings of other ranks' aggregates to this rank's.
  std::array<std::array<std::vector<float>, neighbours>, 2> received;
  for (const int p : {0, 1})
    for (int mu = 0; mu < 4; ++mu)
      aggregates_->exchange(
          ctx_, {2 * mu + 1}, p, matrix,
          [&](std::int64_t a, float* to) { std::copy_n(links.ahead[mu].data() + a * matrix, matrix, to); },
          received[p]);
  ctx_.workers.parallel_for("invert", count, [&](std::size_t begin, std::size_t end) {
    std::vector<number> inverse(std::size_t(size) * size);
    std::vector<float> adjoint(matrix), behind(matrix), product(matrix);
    for (std::size_t a = begin; a < end; ++a) {
      const int p = std::int64_t(a) >= aggregates_->count(0);
      const float* diagonal = links.diagonal.data() + a * matrix;
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j)
          inverse[i * size + j] = {diagonal[i * 2 * size + j], diagonal[i * 2 * size + size + j]};
      invert_in_place(inverse, size);
      transpose(size, diagonal, X_.data() + a * matrix);
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
          const number z = inverse[i * size + j];
          float* by_column = inverse_.data() + a * matrix + std::size_t(j) * 2 * size;
          by_column[i] = float(z.real()), by_column[size + i] = float(z.imag());
          adjoint[j * 2 * size + i] = float(z.real()), adjoint[j * 2 * size + size + i] = float(-z.imag());
        }
      for (int d = 0; d < neighbours; ++d) {
        const float* link = links.ahead[d / 2].data() + a * matrix;
        if (d % 2) {
          const auto there = aggregates_->neighbour(std::int64_t(a), d);
          const float* from = there < 0 ? received[1 - p][d].data() + (-1 - there) * std::int64_t(matrix)
                                        : links.ahead[d / 2].data() + there * std::int64_t(matrix);
          for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j) {
              const float sign = (i < size / 2) == (j < size / 2) ? 1.f : -1.f;
              behind[i * 2 * size + j] = sign * from[j * 2 * size + i];
              behind[i * 2 * size + size + j] = -sign * from[j * 2 * size + size + i];
            }
          link = behind.data();
        }
        std::fill(product.begin(), product.end(), 0.f);
        add_products(size, size, adjoint.data(), link, product.data());
        transpose(size, product.data(), Y_.data() + (a * neighbours + d) * matrix);
      }
    }
  });
}

void coarse_matrix::multiply(const std::vector<float>& matrices, std::int64_t first, coarse_vector& out,
                             const coarse_vector& in) const {
  std::fill(out.numbers.begin(), out.numbers.end(), 0.f);
  ctx_.workers.parallel_for("coarse", std::size_t(in.count), [&](std::size_t begin, std::size_t end) {
    for (auto i = std::int64_t(begin); i < std::int64_t(end); ++i) {
      const float *matrix = matrices.data() + (first + i) * 2 * size_ * size_, *x = in.row(i);
      multiply_coarse(size_, 1, &matrix, &x, out.row(i));
    }
  });
}

void coarse_matrix::hop(coarse_vector& out, const coarse_vector& in, int parity) {
  aggregates_->exchange(
      ctx_, all_directions, 1 - parity, 2 * std::size_t(size_),
      [&](std::int64_t a, float* to) { std::copy_n(in.row(a - aggregates_->first(1 - parity)), 2 * size_, to); },
      received_);
  ctx_.workers.parallel_for("coarse", std::size_t(out.count), [&](std::size_t begin, std::size_t end) {
    for (auto i = std::int64_t(begin); i < std::int64_t(end); ++i) {
      const std::int64_t a = aggregates_->first(parity) + i;
      std::array<const float*, neighbours> matrices, x;
      for (int d = 0; d < neighbours; ++d) {
        matrices[d] = Y_.data() + (a * neighbours + d) * 2 * size_ * size_;
        const auto there = aggregates_->neighbour(a, d);
        x[d] =
            there < 0 ? received_[d].data() + (-1 - there) * 2 * size_ : in.row(there - aggregates_->first(1 - parity));
      }
      std::fill_n(out.row(i), 2 * size_, 0.f);
      multiply_coarse(size_, neighbours, matrices.data(), x.data(), out.row(i));
    }
  });
}

coarse_vector coarse_matrix::half(const coarse_vector& whole, int parity) const {
  coarse_vector out(aggregates_->count(parity), size_);
  std::copy_n(whole.row(aggregates_->first(parity)), out.numbers.size(), out.numbers.data());
  return out;
}

void coarse_matrix::copy_half(const coarse_vector& half, int parity, coarse_vector& to) const {
  std::copy(half.numbers.begin(), half.numbers.end(), to.row(aggregates_->first(parity)));
}

void coarse_matrix::apply(coarse_vector& out, const coarse_vector& in) {
  auto sum = in;
  for (const int p : {0, 1}) {
    auto to = half(in, p), hops = to;
    hop(hops, half(in, 1 - p), p);
    add(ctx_, to, 1, hops);
    copy_half(to, p, sum);
  }
  multiply(X_, 0, out, sum);
}

void coarse_matrix::apply_odd(coarse_vector& out, const coarse_vector& in) {
  hop(even_, in, 0);
  auto hops = in;
  hop(hops, even_, 1);
  out = in;
  add(ctx_, out, -1, hops);
}

void coarse_matrix::multiply_odd(coarse_vector& out, const coarse_vector& in) const {
  multiply(X_, aggregates_->first(1), out, in);
}

int coarse_matrix::solve(coarse_vector& x, const coarse_vector& b, double fraction, int max_steps,
                         const direction& next) {
  multiply(inverse_, 0, x, b);
  auto even = half(x, 0), odd = half(x, 1), hops = odd;
  hop(hops, even, 1);
  add(ctx_, odd, -1, hops);
  auto solution = odd_vector();
  const int steps = gcr(ctx_, solution, odd, space_, max_steps, fraction, next);
  hop(even_, solution, 0);
  add(ctx_, even, -1, even_);
  copy_half(even, 0, x);
  copy_half(solution, 1, x);
  return steps;
}

}  // namespace plaq::lqcd
