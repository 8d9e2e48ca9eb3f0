// Ways to write the hopping matrix, on one rank, each beside the library's own.
#pragma once
#include <cstdint>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::bench {

/// Whole spinors gathered with links looked up where they begin (gather); the same with a copy of the links in the
/// order of reading, three rows or two (copied, compressed: the library's); half spinors, multiplied where the
/// link begins at the neighbour, pushed to the neighbours' places and summed in a second sweep (push); half
/// spinors laid down where they are made and gathered in a second sweep (halves).
enum class way { gather, copied, compressed, push, halves };
inline constexpr way ways[] = {way::gather, way::copied, way::compressed, way::push, way::halves};
const char* name_of(way w);
inline bool two_sweeps(way w) { return w == way::push || w == way::halves; }

template <class T>
struct setting {
  const lqcd::site_layout* layout;
  int parity;
  const T* links[2];  ///< of even and odd sites, 72 numbers each
  const T* near;      ///< as near_links, with three rows: 144 numbers a site
  lqcd::hopping_args<T> library;
  T* halves;  ///< 96 numbers a site of one parity
};

/// Runs sweep 0 or 1 of a way on groups [begin, end) of its parity.
template <class T>
void run(way w, int sweep, const setting<T>& s, std::int64_t begin, std::int64_t end);

/// Links to all neighbours with three rows.
template <class T>
lqcd::field<T, 144> near_with_three_rows(const lqcd::links<T>& gauge);

}  // namespace plaq::bench
