// Numbers side by side in vector registers, for kernels that the compiler does not vectorise well by itself.
#pragma once
#include <bit>
#include <concepts>
#include <cstring>

namespace plaq::linalg {

/// Bytes of the widest registers of the instruction set that this is compiled for.
#ifdef __AVX512F__
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
template <class T>
inline constexpr int native_lanes = vector_bytes / int(sizeof(T));

/// N numbers of type T, N a power of 2. Every operation is the scalar one in each lane, so that results do not
/// depend on the width; as with scalars, the compiler fuses a product and a sum of one expression where the
/// instruction set can.
template <class T, int N>
  requires(std::floating_point<T> && std::has_single_bit(unsigned(N)))
class simd {
 public:
  static constexpr int lanes = N;
  typedef T native __attribute__((vector_size(N * sizeof(T))));

  simd() = default;  // unspecified, as a number
  [[gnu::always_inline]] simd(native v) : v_(v) {}
  /// The same number in all lanes.
  [[gnu::always_inline]] static simd all(T x) { return x - native{}; }

  /// N numbers that lie one after the other, at any address.
  [[gnu::always_inline]] static simd load(const T* from) {
    simd out;
    std::memcpy(&out.v_, from, sizeof(native));
    return out;
  }
  [[gnu::always_inline]] void store(T* to) const { std::memcpy(to, &v_, sizeof(native)); }

  [[gnu::always_inline]] T operator[](int lane) const { return v_[lane]; }
  [[gnu::always_inline]] native vector() const { return v_; }

  [[gnu::always_inline]] friend simd operator+(simd a, simd b) { return a.v_ + b.v_; }
  [[gnu::always_inline]] friend simd operator-(simd a, simd b) { return a.v_ - b.v_; }
  [[gnu::always_inline]] friend simd operator*(simd a, simd b) { return a.v_ * b.v_; }
  [[gnu::always_inline]] friend simd operator/(simd a, simd b) { return a.v_ / b.v_; }
  [[gnu::always_inline]] friend simd operator-(simd a) { return -a.v_; }
  [[gnu::always_inline]] friend simd operator*(simd a, T b) { return a.v_ * b; }
  [[gnu::always_inline]] friend simd operator*(T a, simd b) { return a * b.v_; }
  [[gnu::always_inline]] simd& operator+=(simd b) { return v_ += b.v_, *this; }
  [[gnu::always_inline]] simd& operator-=(simd b) { return v_ -= b.v_, *this; }
  [[gnu::always_inline]] simd& operator*=(simd b) { return v_ *= b.v_, *this; }
  [[gnu::always_inline]] simd& operator*=(T b) { return v_ *= b, *this; }

  /// Lane 0 first, one after the other.
  [[gnu::always_inline]] T sum() const {
    T total = v_[0];
    for (int l = 1; l < N; ++l) total += v_[l];
    return total;
  }

 private:
  native v_;
};

/// a b + c, to be fused.
template <class T, int N>
[[gnu::always_inline]] inline simd<T, N> fma(simd<T, N> a, simd<T, N> b, simd<T, N> c) {
  return a.vector() * b.vector() + c.vector();
}

/// Lane l of the result is lane from[l] of the 2 N lanes of a, then b.
template <int... From, class T, int N>
  requires(sizeof...(From) == N && ((From >= 0 && From < 2 * N) && ...))
[[gnu::always_inline]] inline simd<T, N> shuffled(simd<T, N> a, simd<T, N> b) {
  return __builtin_shufflevector(a.vector(), b.vector(), From...);
}
/// Lane l is lane from[l] of a.
template <int... From, class T, int N>
  requires(sizeof...(From) == N && ((From >= 0 && From < N) && ...))
[[gnu::always_inline]] inline simd<T, N> permuted(simd<T, N> a) {
  return shuffled<From...>(a, a);
}

/// N complex numbers, real and imaginary parts apart: products need no shuffles.
template <class T, int N>
struct complex_simd {
  simd<T, N> re, im;

  [[gnu::always_inline]] friend complex_simd operator+(complex_simd a, complex_simd b) {
    return {a.re + b.re, a.im + b.im};
  }
  [[gnu::always_inline]] friend complex_simd operator-(complex_simd a, complex_simd b) {
    return {a.re - b.re, a.im - b.im};
  }
  [[gnu::always_inline]] friend complex_simd operator*(complex_simd a, complex_simd b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// conj(a) b
template <class T, int N>
[[gnu::always_inline]] inline complex_simd<T, N> conj_times(complex_simd<T, N> a, complex_simd<T, N> b) {
  return {a.re * b.re + a.im * b.im, a.re * b.im - a.im * b.re};
}
/// i a
template <class T, int N>
[[gnu::always_inline]] inline complex_simd<T, N> times_i(complex_simd<T, N> a) {
  return {-a.im, a.re};
}

}  // namespace plaq::linalg
