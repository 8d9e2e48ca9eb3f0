#include "plaq/fft/lines.hpp"

#include <algorithm>
#include <unsupported/Eigen/FFT>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::fft {

/// Tables of one length, and scratch for a line.
struct lines::engine {
  explicit engine(std::size_t length) : line(length) {
    transform.SetFlag(Eigen::FFT<double>::Unscaled);
    transform.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  }
  Eigen::FFT<double> transform;
  std::vector<complex> line;
};

lines::lines(std::size_t length) : length_(length) { check(length > 0, "a line needs at least one point"); }
lines::~lines() = default;

template <class Use>
void lines::borrow(Use&& use) const {
  std::unique_ptr<engine> mine;
  {
    std::lock_guard lock(guard_);
    if (!idle_.empty()) {
      mine = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!mine) mine = std::make_unique<engine>(length_);
  use(*mine);
  std::lock_guard lock(guard_);
  idle_.push_back(std::move(mine));
}

void lines::forward(std::span<complex> all) const {
  check(all.size() % length_ == 0, "the numbers are not whole lines");
  if (length_ == 1) return;
  borrow([&](engine& with) {
    for (std::size_t at = 0; at < all.size(); at += length_) {
      with.transform.fwd(with.line.data(), all.data() + at, Eigen::Index(length_));
      std::ranges::copy(with.line, all.begin() + std::ptrdiff_t(at));
    }
  });
}

void lines::backward(std::span<complex> all) const {
  check(all.size() % length_ == 0, "the numbers are not whole lines");
  if (length_ == 1) return;
  borrow([&](engine& with) {
    for (std::size_t at = 0; at < all.size(); at += length_) {
      with.transform.inv(with.line.data(), all.data() + at, Eigen::Index(length_));
      std::ranges::copy(with.line, all.begin() + std::ptrdiff_t(at));
    }
  });
}

void lines::forward(std::span<const double> from, std::span<complex> to) const {
  const std::size_t half = length_ / 2 + 1, count = from.size() / length_;
  check(from.size() == count * length_ && to.size() == count * half, "the numbers are not whole lines");
  borrow([&](engine& with) {
    for (std::size_t k = 0; k < count; ++k) {
      if (length_ == 1)
        with.line[0] = from[k];
      else
        with.transform.fwd(with.line.data(), from.data() + k * length_, Eigen::Index(length_));
      std::ranges::copy(std::span(with.line).first(half), to.begin() + std::ptrdiff_t(k * half));
    }
  });
}

void lines::backward(std::span<const complex> from, std::span<double> to) const {
  const std::size_t half = length_ / 2 + 1, count = from.size() / half;
  check(from.size() == count * half && to.size() == count * length_, "the numbers are not whole lines");
  borrow([&](engine& with) {
    for (std::size_t k = 0; k < count; ++k) {
      if (length_ == 1)
        to[k] = from[k].real();
      else
        with.transform.inv(to.data() + k * length_, from.data() + k * half, Eigen::Index(length_));
    }
  });
}

}  // namespace plaq::fft
