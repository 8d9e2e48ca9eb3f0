#include "plaq/fft/lines.hpp"

#include "plaq/base/error.hpp"
#include "plaq/fft/line_kernels.hpp"

namespace plaq::fft {

lines::lines(std::size_t length) : length_(length) { check(length > 0, "a line needs at least one point"); }

void lines::transform(std::span<complex> all, std::size_t stride, bool forward, double factor) const {
  check(stride > 0 && all.size() % (length_ * stride) == 0, "the numbers are not whole lines");
  if (all.empty()) return;
  kernels::transform({all.size() / (length_ * stride), length_, stride}, all.data(), forward, factor);
}

void lines::forward(std::span<const double> from, std::span<complex> to) const {
  const std::size_t half = length_ / 2 + 1, count = from.size() / length_;
  check(from.size() == count * length_ && to.size() == count * half, "the numbers are not whole lines");
  if (count > 0) kernels::transform_real(count, length_, from.data(), to.data());
}

void lines::backward(std::span<const complex> from, std::span<double> to, double factor) const {
  const std::size_t half = length_ / 2 + 1, count = from.size() / half;
  check(from.size() == count * half && to.size() == count * length_, "the numbers are not whole lines");
  if (count > 0) kernels::transform_to_real(count, length_, from.data(), to.data(), factor);
}

}  // namespace plaq::fft
