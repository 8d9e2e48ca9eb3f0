// Fields of random numbers, each a function of seed, purpose and global site alone.
#pragma once
#include <array>
#include <complex>
#include <cstdint>

#include "plaq/lqcd/lattice/field.hpp"
#include "plaq/lqcd/lattice/streams.hpp"

namespace plaq::lqcd {

/// Matrix of SU(3), row by row.
using su3_matrix = std::array<std::complex<double>, 9>;

/// Returns two Gaussian complex numbers z with <|z|^2> = 1 for an index of a stream (Box and Muller).
std::array<std::complex<double>, 2> gaussian_pair(const stream_id& stream, std::uint64_t index);

/// Index of a site in the global lattice.
inline std::int64_t global_index(const site_layout& layout, const coordinates& local) {
  return index_in(local + layout.lattice().origin(), layout.lattice().extents);
}

/// Projects u onto SU(3) by Gram and Schmidt: makes the first two rows orthonormal, and the third their conjugated
/// cross product.
void make_unitary(su3_matrix& u);

/// Returns a matrix with SU(3)'s invariant (Haar) measure: rows of Gaussian numbers, made unitary.
su3_matrix random_su3(const stream_id& stream);

/// Sets every link to a random matrix of SU(3), or to one.
template <class T>
void hot_start(links<T>& gauge, std::uint64_t seed);
template <class T>
void cold_start(links<T>& gauge);

/// Stream of a spinor's random numbers.
struct spinor_stream {
  std::uint64_t seed;
  std::uint32_t number = 0, part = 0;
  random_purpose purpose = random_purpose::source;
};

/// Draws complex components with independent Gaussian parts of variance 1/2 each, so that <|eta_i|^2> = 1.
template <class T>
void gaussian(spinors<T>& eta, const spinor_stream& random);
template <class T>
void gaussian(spinors<T>& eta, std::uint64_t seed, std::uint32_t number = 0) {
  gaussian(eta, spinor_stream{seed, number});
}

}  // namespace plaq::lqcd
