// The stages of a particle's step, on some particles at a time that stay in the cache: what it feels, its momentum, its way.
#pragma once
#include <cstddef>

#include "plaq/pic/kernels.hpp"

namespace plaq::pic::stages {

inline constexpr int at_once = 128;

/// E and B at particles.
template <class T>
struct felt {
  alignas(64) T e[3][at_once], b[3][at_once];
};

template <class T>
using gather = void (*)(const block& m, const fields<T>& f, const particles<T>& p, std::size_t first, int n, felt<T>& out);
/// For 1, 2 or 3 dimensions and order 1, 2, 3.
template <class T>
gather<T> gather_for(int dimensions, int order);

/// u of n particles over a time dt, and 1 / gamma of what it comes to. q: charge per mass.
template <class T>
void push(pusher by, T q, T dt, const felt<T>& at, T* ux, T* uy, T* uz, int n, T* inverse_gamma);

/// Positions over dt with velocities u / gamma, and the current of the ways.
template <class T>
using move = void (*)(const block& m, const motion& how, fields<T>& f, particles<T>& p, std::size_t first, int n,
                      const T* inverse_gamma, set_apart& apart);
template <class T>
move<T> move_for(int dimensions, int order);

}  // namespace plaq::pic::stages
