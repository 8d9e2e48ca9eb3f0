// Sides of the box that are conductors: fields and charges have images behind them. E along the wall is 0 there, E
// normal to it is even, and so is J; E and J along it and charges are odd. B the other way round.
#pragma once
#include <array>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

/// For each dimension whether the patch's low and high side are conductors.
using sides = std::array<std::array<bool, 2>, 3>;

/// Which sides of a patch of the plan are sides of the box, and not periodic.
sides walls_of(const plan& p, const point& patch);

/// Adds what J has behind the walls to where its images are.
template <class T>
void fold_current(const block& m, const sides& walls, fields<T>& f);
template <class T>
void fold_charge(const block& m, const sides& walls, fields<T>& f);
/// Makes the guard cells behind the walls the image of those before.
template <class T>
void mirror_fields(const block& m, const sides& walls, fields<T>& f);
/// B normal to a high side, on it, from div B = 0, in cells from `from_x` on: where B was given.
template <class T>
void close_b(const block& m, const sides& walls, fields<T>& f, int from_x);

}  // namespace plaq::pic
