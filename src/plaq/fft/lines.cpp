#include "plaq/fft/lines.hpp"

#include <array>

#include "plaq/base/error.hpp"
#include "plaq/fft/line_kernels.hpp"

namespace plaq::fft {

namespace {

/// Returns the number of numbers in all pieces.
template <class Pieces>
std::size_t size_of(const Pieces& all) {
  std::size_t sum = 0;
  for (const auto& piece : all) sum += piece.size();
  return sum;
}

constexpr const char* not_whole = "the numbers are not whole lines";

}  // namespace

lines::lines(std::size_t length) : length_(length) { check(length > 0, "a line needs at least one point"); }

void lines::forward(std::span<complex> all, std::size_t stride) const {
  transform(std::array{std::span<const complex>(all)}, std::array{all}, stride, true, 1);
}
void lines::backward(std::span<complex> all, std::size_t stride, double factor) const {
  transform(std::array{std::span<const complex>(all)}, std::array{all}, stride, false, factor);
}
void lines::forward(std::span<const double> from, std::span<complex> to) const { forward(from, std::array{to}); }
void lines::backward(std::span<const complex> from, std::span<double> to, double factor) const {
  backward(std::array{from}, to, factor);
}

void lines::transform(constant_pieces from, pieces to, std::size_t stride, bool forward, double factor) const {
  const std::size_t all = size_of(from);
  check(stride > 0 && all % (length_ * stride) == 0 && size_of(to) == all, not_whole);
  const std::size_t outer = all / (length_ * stride);
  for (const auto& piece : from) check(outer == 0 || piece.size() % (outer * stride) == 0, not_whole);
  for (const auto& piece : to) check(outer == 0 || piece.size() % (outer * stride) == 0, not_whole);
  if (outer > 0) kernels::transform({outer, length_, stride}, from, to, forward, factor);
}

void lines::forward(std::span<const double> from, pieces to) const {
  const std::size_t half = length_ / 2 + 1, count = from.size() / length_;
  check(from.size() == count * length_ && size_of(to) == count * half, not_whole);
  for (const auto& piece : to) check(count == 0 || piece.size() % count == 0, not_whole);
  if (count > 0) kernels::transform_real({count, length_, 1}, from.data(), to);
}

void lines::backward(constant_pieces from, std::span<double> to, double factor) const {
  const std::size_t half = length_ / 2 + 1, count = to.size() / length_;
  check(size_of(from) == count * half && to.size() == count * length_, not_whole);
  for (const auto& piece : from) check(count == 0 || piece.size() % count == 0, not_whole);
  if (count > 0) kernels::transform_to_real({count, length_, 1}, from, to.data(), factor);
}

}  // namespace plaq::fft
