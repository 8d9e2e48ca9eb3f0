#include "plaq/fft/line_kernels.hpp"

#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 32  // lengths whose tables are kept
#if __has_include(<pocketfft_hdronly.h>)
#include <pocketfft_hdronly.h>
#else
#include <pocketfft.hpp>
#endif

namespace plaq::fft::kernels {

namespace {

using pocketfft::shape_t;
using pocketfft::stride_t;

/// Distances in bytes in an array [outer][length][inner] of T.
template <class T>
stride_t distances(std::size_t length, std::size_t inner) {
  const auto bytes = [](std::size_t n) { return std::ptrdiff_t(n * sizeof(T)); };
  return {bytes(length * inner), bytes(inner), bytes(1)};
}

}  // namespace

void transform(const line_shape& of, std::complex<double>* all, bool forward, double factor) {
  const stride_t steps = distances<std::complex<double>>(of.length, of.stride);
  pocketfft::c2c({of.outer, of.length, of.stride}, steps, steps, {1}, forward, all, all, factor);
}

void transform_real(std::size_t count, std::size_t length, const double* from, std::complex<double>* to) {
  pocketfft::r2c({count, length, 1}, distances<double>(length, 1), distances<std::complex<double>>(length / 2 + 1, 1),
                 1, pocketfft::FORWARD, from, to, 1.0);
}

void transform_to_real(std::size_t count, std::size_t length, const std::complex<double>* from, double* to,
                       double factor) {
  pocketfft::c2r({count, length, 1}, distances<std::complex<double>>(length / 2 + 1, 1), distances<double>(length, 1),
                 1, pocketfft::BACKWARD, from, to, factor);
}

}  // namespace plaq::fft::kernels
