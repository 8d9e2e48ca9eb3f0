// Arithmetic of reductions, on runs of bytes.
#pragma once
#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "plaq/base/error.hpp"

namespace plaq::comm {

enum class operation { sum, min, max };

template <class T>
concept real_scalar = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                      std::same_as<T, std::uint64_t> || std::same_as<T, float> || std::same_as<T, double>;

template <class T>
concept reducible = real_scalar<T> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// Function (to, left, right, bytes): to = left op right, value by value; `to` may be one of the two.
using combination = std::function<void(std::byte*, const std::byte*, const std::byte*, std::size_t)>;

/// Returns the combination by a function of two values. Contributions of lower ranks (of earlier pieces) come left.
template <class T, class F>
  requires std::is_trivially_copyable_v<T> && std::is_invocable_r_v<T, F&, const T&, const T&>
combination combination_of(F f) {
  return [f](std::byte* to, const std::byte* left, const std::byte* right, std::size_t bytes) {
    auto* out = reinterpret_cast<T*>(to);
    const auto* a = reinterpret_cast<const T*>(left);
    const auto* b = reinterpret_cast<const T*>(right);
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) out[i] = f(a[i], b[i]);
  };
}

/// Returns the combination by an operation. @pre Complex numbers are summed (input_error).
template <reducible T>
combination combination_of(operation op) {
  if constexpr (real_scalar<T>) {
    if (op == operation::min) return combination_of<T>([](T a, T b) { return std::min(a, b); });
    if (op == operation::max) return combination_of<T>([](T a, T b) { return std::max(a, b); });
  } else if (op != operation::sum) {
    throw input_error("complex numbers have no order: they can only be summed");
  }
  return combination_of<T>([](T a, T b) { return T(a + b); });
}

}  // namespace plaq::comm
