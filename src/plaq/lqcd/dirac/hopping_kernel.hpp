// The hopping matrix on one rank's groups of one parity,
//
//   (H psi)(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu),
//
// with the linear combination that follows it in an operator. 1320 operations a site. See docs/lqcd_methods.md.
#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "plaq/lqcd/lattice/field.hpp"
#include "plaq/lqcd/lattice/fixed16.hpp"

namespace plaq::lqcd {

/// Factor a + i b gamma_5: a number for the upper two spins, its conjugate for the lower two.
template <class T>
using chiral = std::complex<T>;

/// Links in the order of the hopping matrix, for each site those to its eight neighbours: the first two rows of U_mu(x)
/// in direction 2 mu, of U_mu(x - mu) in direction 2 mu + 1. Row i, column j is component 6 d + 3 i + j. S is the
/// storage type: that of the spinors, or 16 bits.
template <class S>
using near_links = field<S, 96>;
/// Their third rows, element j of direction d is component 3 d + j.
template <class S>
using near_third_rows = field<S, 48>;

/// Arguments of out = c H in + d phi on the groups of `parity`; `in` has the other parity. Pointers are to a parity's
/// first group.
template <class T, class S = T>
struct hopping_args {
  const site_layout* layout;
  int parity;
  const S* links;                                    ///< near_links of all sites
  std::array<std::complex<T>, 4> link_determinants;  ///< for each direction
  const T* in;
  T* out;
  bool dagger = false;  ///< H^+ instead
  chiral<T> c{1, 0};
  const T* phi = nullptr;  ///< null: no d phi
  chiral<T> d{0, 0};
  /// Half spinors received over the edges of the rank: [direction][face group][12][lane].
  std::array<T*, neighbours> faces{};
  bool prefetch = false;  ///< data of later groups: useful if links and fields exceed a core's cache
  bool stream = false;    ///< stores past the caches: useful if `out` would not stay in them
  /// near_third_rows of all sites, read without prefetches; null: third rows are computed. Bits are the same.
  const S* third_rows = nullptr;
};

/// Computes `out` on these groups of args.parity (counted as in the layout).
template <class T, class S>
void hop(const hopping_args<T, S>& args, std::span<const std::int32_t> groups);

/// Arguments of the derivative of Y^+ H X with respect to links: `hopping.in` is X ahead, `left` is Y here.
template <class T>
struct derivative_args {
  hopping_args<T> hopping;  ///< where, parity, links, in, dagger and faces
  const T* left;            ///< of hopping.parity
  T* out;                   ///< 72 numbers each
};

/// Computes out_mu(x) += U_mu(x) tr_spin (1 - gamma_mu) in(x + mu) left(x)^+ on groups first ... end - 1 of the
/// lattice, which have the parity; with `dagger` (1 + gamma_mu).
template <class T>
void derivative(const derivative_args<T>& args, std::int64_t first, std::int64_t end);

/// Computes the half spinors that groups first ... end - 1 of face `d` need. This rank's own go to args.faces[d], those
/// for another rank to `send`, [face group][12][lanes_at_edge].
template <class T, class S>
void pack_face(const hopping_args<T, S>& args, int d, std::size_t first, std::size_t end, T* send);

/// Computes near_third_rows of groups first ... end - 1 of all.
template <class T>
void compute_third_rows(const hopping_args<T>& args, std::int64_t first, std::int64_t end, T* out);

/// Copies received half spinors into args.faces[d].
template <class T, class S>
void unpack_face(const hopping_args<T, S>& args, int d, std::size_t first, std::size_t end, const T* received);

/// Largest number of lanes that the kernels of this program were compiled for.
template <class T>
int max_lanes();

}  // namespace plaq::lqcd
