// Fields of random numbers, each a function of seed, purpose and global site alone.
#pragma once
#include <array>
#include <complex>
#include <cstdint>

#include "plaq/lqcd/field.hpp"
#include "plaq/lqcd/streams.hpp"

namespace plaq::lqcd {

/// Row by row.
using su3_matrix = std::array<std::complex<double>, 9>;

/// Two Gaussian complex numbers z with <|z|^2> = 1 for each index of a stream (Box and Muller).
std::array<std::complex<double>, 2> gaussian_pair(const stream_id& stream, std::uint64_t index);

/// The number of a site in the global lattice.
inline std::int64_t global_number(const layout& where, const coordinates& local) {
  return number_in(local + where.on().origin(), where.on().extents);
}

/// The nearest thing to u in SU(3) that Gram and Schmidt find: the first two rows made orthonormal, the third
/// their cross product, conjugated.
void make_unitary(su3_matrix& u);

/// Of SU(3)'s invariant (Haar) measure: rows of Gaussian numbers, made unitary.
su3_matrix random_su3(const stream_id& stream);

/// Every link a random matrix of SU(3), or one.
template <class T>
void hot_start(links<T>& gauge, std::uint64_t seed);
template <class T>
void cold_start(links<T>& gauge);

/// Which random numbers a spinor gets: those of (seed, purpose, number, part).
struct spinor_stream {
  std::uint64_t seed;
  std::uint32_t number = 0, part = 0;
  draws purpose = draws::source;
};

/// Complex components with independent Gaussian parts of variance 1/2 each, so that <|eta_i|^2> = 1.
template <class T>
void gaussian(spinors<T>& eta, const spinor_stream& random);
template <class T>
void gaussian(spinors<T>& eta, std::uint64_t seed, std::uint32_t number = 0) {
  gaussian(eta, spinor_stream{seed, number});
}

}  // namespace plaq::lqcd
