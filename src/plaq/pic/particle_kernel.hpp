// The stages of a particle's step, on some particles at a time that stay in the cache: what it feels, its momentum, its way.
#pragma once
#include <algorithm>
#include <cstddef>

#include "plaq/pic/kernels.hpp"

namespace plaq::pic::stages {

inline constexpr int at_once = 128;
inline constexpr int room = at_once + 16;  ///< so that registers may reach over the end

/// Particles that take a turn, 0 after the end, and where their cells are in the fields.
template <class T>
struct turn {
  std::size_t first;
  int n;
  alignas(64) T x[3][room];
  alignas(64) T u[3][room];
  alignas(64) T w[room];
  std::ptrdiff_t cell[at_once];

  turn(const block& m, const particles<T>& p, std::size_t from)
      : first(from), n(int(std::min<std::size_t>(at_once, p.size() - from))) {
    const auto take = [&](const std::vector<T>& array, T* to) { std::fill(std::copy_n(array.data() + first, n, to), to + room, T(0)); };
    std::fill_n(cell, n, m.origin());
    for (int d = 0; d < m.dimensions; ++d) {
      take(p.x[d], x[d]);
      for (int l = 0; l < n; ++l) cell[l] += p.cell[d][first + std::size_t(l)] * m.stride[d];
    }
    for (int c = 0; c < 3; ++c) take(p.u[c], u[c]);
    take(p.w, w);
  }
  void give_back_u(particles<T>& p) const {
    for (int c = 0; c < 3; ++c) std::copy_n(u[c], n, p.u[c].data() + first);
  }
};

/// Calls use(begin, end, cell) for those that follow each other in one cell.
template <class T, class Use>
inline void for_runs(const turn<T>& now, Use use) {
  for (int begin = 0, end; begin < now.n; begin = end) {
    for (end = begin + 1; end < now.n && now.cell[end] == now.cell[begin];) ++end;
    use(begin, end, now.cell[begin]);
  }
}

/// E and B at particles.
template <class T>
struct felt {
  alignas(64) T e[3][room], b[3][room];
};

template <class T>
using gather = void (*)(const block& m, const fields<T>& f, const turn<T>& now, felt<T>& out);
/// For 1, 2 or 3 dimensions and order 1, 2, 3.
template <class T>
gather<T> gather_for(int dimensions, int order);

/// u of n particles over a time dt, and 1 / gamma of what it comes to. q: charge per mass.
template <class T>
void push(pusher by, T q, T dt, const felt<T>& at, T* ux, T* uy, T* uz, int n, T* inverse_gamma);

/// Positions over dt with velocities u / gamma, and the current of the ways. `inverse_gamma` has `room` numbers, 0 after n.
template <class T>
using move = void (*)(const block& m, const motion& how, fields<T>& f, particles<T>& p, const turn<T>& now,
                      const T* inverse_gamma, set_apart& apart);
template <class T>
move<T> move_for(int dimensions, int order);

}  // namespace plaq::pic::stages
