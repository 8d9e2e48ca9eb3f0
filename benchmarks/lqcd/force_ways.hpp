// Ways to sum the derivative of the hopping matrix, to which every link gets two terms: from the site where it begins,
// and from the one where it ends.
#pragma once
#include <cstdint>
#include <vector>

#include "plaq/lqcd/field.hpp"
#include "plaq/lqcd/hopping_kernel.hpp"

namespace plaq::bench {

/// A site sums both terms of its links, each of which has one writer (own, the library's), or pushes the second to the
/// link behind: plainly, for one worker (push), by atomic additions (atomic), or, where that link belongs to another
/// piece of the lattice, into memory of its own that is added in a second sweep (halo).
enum class force_way { own, push, atomic, halo };
inline constexpr force_way force_ways[] = {force_way::own, force_way::push, force_way::atomic, force_way::halo};
const char* name_of(force_way w);

struct force_setting {
  lqcd::hop_work<double> work;  ///< where, links and turns
  const double *X, *Y;          ///< on all sites
  double* out;                  ///< 72 numbers a site
};

/// Blocks begin ... end - 1 of each parity, and what they push out of these.
struct force_piece {
  std::int64_t begin, end;
  std::vector<double> halo;
};
std::vector<force_piece> pieces_of(const lqcd::layout& where, int number);

/// out += the derivative, for one piece; after all pieces, where the way is halo, what they have pushed.
void add_force(force_way w, const force_setting& s, force_piece& p);
void add_halo(const force_setting& s, const force_piece& p);

}  // namespace plaq::bench
