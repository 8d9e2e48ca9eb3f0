// Ways to sum the derivative of the hopping matrix, to which every link gets two terms: from the site where it begins,
// and from the one where it ends.
#pragma once
#include <cstdint>
#include <vector>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::bench {

/// A site sums both terms of its links, each of which has one writer (own, the library's), or pushes the second to the
/// link behind: plainly, for one worker (push), by atomic additions (atomic), or, where that link belongs to another
/// piece of the lattice, into memory of its own that is added in a second sweep (halo).
enum class force_way { own, push, atomic, halo };
inline constexpr force_way force_ways[] = {force_way::own, force_way::push, force_way::atomic, force_way::halo};
const char* name_of(force_way w);

struct force_setting {
  lqcd::hopping_args<double> work;  ///< layout, links and determinants
  const double *X, *Y;              ///< on all sites
  double* out;                      ///< 72 numbers a site
};

/// Groups begin ... end - 1 of each parity, and the terms that they push to other pieces.
struct force_piece {
  std::int64_t begin, end;
  std::vector<double> halo;
};
std::vector<force_piece> pieces_of(const lqcd::site_layout& layout, int number);

/// Adds the derivative to out for one piece; with halo, add_halo adds the pushed terms after all pieces.
void add_force(force_way w, const force_setting& s, force_piece& p);
void add_halo(const force_setting& s, const force_piece& p);

}  // namespace plaq::bench
