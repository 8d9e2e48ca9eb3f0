// The hopping matrix on one rank's blocks of one parity,
//
//   (H psi)(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu),
//
// with what follows it in an operator. 1320 operations a site. See docs/lqcd.md.
#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "plaq/lqcd/field.hpp"
#include "plaq/lqcd/fixed16.hpp"

namespace plaq::lqcd {

/// A number for the upper two spins, whose conjugate is for the lower two: a + i b gamma_5.
template <class T>
using chiral = std::complex<T>;

/// Links as the hopping matrix reads them, of each site those to its eight neighbours: the first two rows of U_mu(x)
/// in direction 2 mu, of U_mu(x - mu) in direction 2 mu + 1. Row i, column j is component 6 d + 3 i + j. S is what
/// numbers are stored as: that of the spinors, or 16 bits.
template <class S>
using near_links = field<S, 96>;

/// Their third rows, for links that stay in a cache: there it takes less time to read these than to work them out.
/// Column j is component 3 d + j.
template <class T>
using third_rows = field<T, 48>;

/// out = c H in + d phi on the blocks of `parity`; `in` has the other parity. Pointers are to a parity's first
/// block.
template <class T, class S = T>
struct hop_work {
  const layout* where;
  int parity;
  const S* links;                        ///< near_links of all sites
  std::array<std::complex<T>, 4> turns;  ///< determinants of the links in each direction
  const T* in;
  T* out;
  bool dagger = false;            ///< H^+ instead
  const T* third_rows = nullptr;  ///< of all sites; nowhere: they are worked out
  chiral<T> c{1, 0};
  const T* phi = nullptr;  ///< nowhere: no d phi
  chiral<T> d{0, 0};
  /// Half spinors that came over the edges of the rank: [direction][face block][12][lane].
  std::array<T*, neighbours> faces{};
  bool prefetch = false;  ///< what later blocks need; worth it where links and fields are not in a cache of a core
  bool stream = false;    ///< out goes past the caches: worth it where it would not stay in them
};

/// These blocks of work.parity (numbered as in the layout).
template <class T, class S>
void hop(const hop_work<T, S>& work, std::span<const std::int32_t> blocks);

/// The third rows of links on blocks first ... end - 1 of the lattice, bit by bit what `hop` would work out.
template <class T>
void work_out(third_rows<T>& out, const near_links<T>& links, const std::array<std::complex<T>, 4>& turns,
              std::int64_t first, std::int64_t end);

/// What it takes for the derivative of the hopping matrix with respect to links: that from `in` ahead to `here`.
template <class T>
struct derivative_work {
  hop_work<T> of;  ///< where, parity, links, in, dagger and faces
  const T* here;
  T* out;  ///< 72 numbers each
};

/// out_mu(x) += U_mu(x) tr_spin (1 - gamma_mu) in(x + mu) here(x)^+ on blocks first ... end - 1 of the lattice, which
/// are of the parity; with `dagger` (1 + gamma_mu).
template <class T>
void derivative(const derivative_work<T>& work, std::int64_t first, std::int64_t end);

/// For the blocks first ... end - 1 of face `d`: the half spinors that they need. Those of this rank are put into
/// work.faces[d]; those that another rank wants of this one go to `send`, [face block][12][lanes_at_edge].
template <class T, class S>
void pack_face(const hop_work<T, S>& work, int d, std::size_t first, std::size_t end, T* send);

/// Puts what came into work.faces[d].
template <class T, class S>
void unpack_face(const hop_work<T, S>& work, int d, std::size_t first, std::size_t end, const T* came);

/// The most lanes that the kernels of this program were compiled for.
template <class T>
int widest();

}  // namespace plaq::lqcd
