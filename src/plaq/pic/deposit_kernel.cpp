// Ways of particles and their current: T. Zh. Esirkepov, Comput. Phys. Commun. 135 (2001) 144. Along each dimension the
// current's divergence is exactly the change of the charge density, so that Gauss's law stays as it was.
#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/particle_kernel.hpp"
#include "plaq/pic/shapes.hpp"

namespace plaq::pic {

namespace {

/// Of one dimension: the shape before, and by how much it changes, on the nodes base ... base + Order + 2.
template <int Order, class T>
struct change {
  T before[Order + 3], by[Order + 3];
  int base;

  PLAQ_KERNEL change(T from, T to) {
    const auto a = at_nodes<Order>(from);
    const T whole = std::floor(to);
    auto b = at_nodes<Order>(to - whole);
    b.base += int(whole);
    base = a.base - 1;
    for (int i = 0; i < Order + 3; ++i) before[i] = by[i] = 0;
    for (int i = 0; i <= Order; ++i) before[i + 1] = a.at[i];
    for (int i = 0; i <= Order; ++i) by[i + b.base - base] = b.at[i];
    for (int i = 0; i < Order + 3; ++i) by[i] -= before[i];
  }
};

/// The mean of the product of two shapes over the step.
template <class T>
PLAQ_KERNEL T mean(T a, T da, T b, T db) {
  return a * b + T(0.5) * (da * b + a * db) + da * db / 3;
}

/// charge: of the particle, per volume of a cell.
template <int D, int Order, class T>
PLAQ_KERNEL void deposit_way(const block& m, fields<T>& f, std::ptrdiff_t cell, const T* from, const T* by, T charge) {
  constexpr int n = Order + 3;
  const auto sx = m.stride[0], sy = m.stride[1], sz = m.stride[2];
  const change<Order, T> x(from[0], from[0] + by[0]);
  T q[3];
  for (int c = 0; c < 3; ++c) q[c] = charge * (c < D ? T(m.spacing[c] / m.dt) : by[c] * T(1 / m.dt));
  std::ptrdiff_t at = cell + x.base;
  if constexpr (D == 1) {
    T *jx = f.j[0].data() + at, *jy = f.j[1].data() + at, *jz = f.j[2].data() + at;
    T flow = 0;
    for (int i = 0; i < n; ++i) {
      flow -= x.by[i];
      const T w = x.before[i] + T(0.5) * x.by[i];
      if (i < n - 1) jx[i] += q[0] * flow;
      jy[i] += q[1] * w, jz[i] += q[2] * w;
    }
  } else if constexpr (D == 2) {
    const change<Order, T> y(from[1], from[1] + by[1]);
    at += y.base * sy;
    T *jx = f.j[0].data() + at, *jy = f.j[1].data() + at, *jz = f.j[2].data() + at;
    for (int j = 0; j < n; ++j) {
      T flow = 0;
      const T w = q[0] * (y.before[j] + T(0.5) * y.by[j]);
      for (int i = 0; i < n - 1; ++i) {
        flow -= x.by[i];
        jx[i * sx + j * sy] += w * flow;
      }
    }
    T flow[n] = {};
    for (int j = 0; j < n - 1; ++j)
      for (int i = 0; i < n; ++i) {
        flow[i] -= y.by[j] * (x.before[i] + T(0.5) * x.by[i]);
        jy[i * sx + j * sy] += q[1] * flow[i];
      }
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) jz[i * sx + j * sy] += q[2] * mean(x.before[i], x.by[i], y.before[j], y.by[j]);
  } else {
    const change<Order, T> y(from[1], from[1] + by[1]), z(from[2], from[2] + by[2]);
    at += y.base * sy + z.base * sz;
    T *jx = f.j[0].data() + at, *jy = f.j[1].data() + at, *jz = f.j[2].data() + at;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) {
        T flow = 0;
        const T w = q[0] * mean(y.before[j], y.by[j], z.before[k], z.by[k]);
        for (int i = 0; i < n - 1; ++i) {
          flow -= x.by[i];
          jx[i * sx + j * sy + k * sz] += w * flow;
        }
      }
    for (int k = 0; k < n; ++k) {
      T flow[n] = {};
      for (int j = 0; j < n - 1; ++j)
        for (int i = 0; i < n; ++i) {
          flow[i] -= y.by[j] * mean(x.before[i], x.by[i], z.before[k], z.by[k]);
          jy[i * sx + j * sy + k * sz] += q[1] * flow[i];
        }
    }
    for (int j = 0; j < n; ++j) {
      T flow[n] = {};
      for (int k = 0; k < n - 1; ++k)
        for (int i = 0; i < n; ++i) {
          flow[i] -= z.by[k] * mean(x.before[i], x.by[i], y.before[j], y.by[j]);
          jz[i * sx + j * sy + k * sz] += q[2] * flow[i];
        }
    }
  }
}

template <int D, int Order, class T>
void move_all(const block& m, const motion& how, fields<T>& f, particles<T>& p, std::size_t first, int n,
              const T* inverse_gamma, set_apart& apart) {
  const std::ptrdiff_t origin = m.origin();
  const T density = T(how.charge / m.volume());
  bool any_wall = false;
  for (int d = 0; d < D; ++d) any_wall = any_wall || how.walls[d][0] || how.walls[d][1];
  T per_cell[3];
  for (int c = 0; c < 3; ++c) per_cell[c] = T(c < D ? m.dt / m.spacing[c] : m.dt);
  for (int l = 0; l < n; ++l) {
    const std::size_t i = first + std::size_t(l);
    T from[D], by[3], whole[D];
    int cell[D];
    std::ptrdiff_t at = origin;
    for (int c = 0; c < 3; ++c) by[c] = p.u[c][i] * inverse_gamma[l] * per_cell[c];
    bool sound = true, crosses = false;
    for (int d = 0; d < D; ++d) {
      from[d] = p.x[d][i];
      cell[d] = p.cell[d][i];
      at += cell[d] * m.stride[d];
      sound = sound && std::abs(by[d]) < 1;
      whole[d] = std::floor(from[d] + by[d]);
    }
    if (!sound) [[unlikely]]
      throw runtime_failure("a particle moves by more than a cell in a step: its momentum is no number, or a field is not");
    if (any_wall) [[unlikely]] {
      for (int d = 0; d < D; ++d) {
        const int to = cell[d] + int(whole[d]);
        crosses = crosses || (to < 0 && how.walls[d][0]) || (to >= m.cells[d] && how.walls[d][1]);
      }
      if (crosses) {
        apart.at_wall.push_back(std::uint32_t(i));
        continue;
      }
    }
    deposit_way<D, Order>(m, f, at, from, by, density * p.w[i]);
    bool leaves = false;
    for (int d = 0; d < D; ++d) {
      p.x[d][i] = from[d] + by[d] - whole[d];
      cell[d] += int(whole[d]);
      p.cell[d][i] = cell[d];
      leaves = leaves || unsigned(cell[d]) >= unsigned(m.cells[d]);
    }
    if (leaves) apart.leaving.push_back(std::uint32_t(i));
  }
}

template <int D, int Order, class T>
void deposit_one(const block& m, fields<T>& f, const way<T>& along, T charge) {
  deposit_way<D, Order>(m, f, m.index(along.cell), along.from.data(), along.by.data(), charge);
}

template <int D, int Order, class T>
void charge_of_all(const block& m, fields<T>& f, const particles<T>& p, T density) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    std::ptrdiff_t at = m.origin();
    weights<Order, T> s[D];
    for (int d = 0; d < D; ++d) {
      s[d] = at_nodes<Order>(p.x[d][i]);
      at += (p.cell[d][i] + s[d].base) * m.stride[d];
    }
    const T q = density * p.w[i];
    T* rho = f.rho.data() + at;
    for (int k = 0; k < (D > 2 ? Order + 1 : 1); ++k)
      for (int j = 0; j < (D > 1 ? Order + 1 : 1); ++j) {
        T w = q;
        if constexpr (D > 1) w *= s[1].at[j];
        if constexpr (D > 2) w *= s[2].at[k];
        for (int n = 0; n <= Order; ++n) rho[n + j * m.stride[1] + k * m.stride[2]] += w * s[0].at[n];
      }
  }
}

}  // namespace

/// f.operator()<D, Order>() for these numbers.
#define PLAQ_PIC_TABLE(F)                                                                              \
  {                                                                                                    \
    {F<1, 1>, F<1, 2>, F<1, 3>}, {F<2, 1>, F<2, 2>, F<2, 3>}, { F<3, 1>, F<3, 2>, F<3, 3> }             \
  }

template <class T>
stages::move<T> stages::move_for(int dimensions, int order) {
  static constexpr move<T> all[3][3] = PLAQ_PIC_TABLE(move_all);
  return all[dimensions - 1][order - 1];
}

template <class T>
void deposit(const block& m, int order, fields<T>& f, const way<T>& along, double charge) {
  static constexpr void (*all[3][3])(const block&, fields<T>&, const way<T>&, T) = PLAQ_PIC_TABLE(deposit_one);
  all[m.dimensions - 1][order - 1](m, f, along, T(charge / m.volume()));
}

template <class T>
void deposit_charge(const block& m, int order, fields<T>& f, const particles<T>& p, double charge) {
  static constexpr void (*all[3][3])(const block&, fields<T>&, const particles<T>&, T) = PLAQ_PIC_TABLE(charge_of_all);
  all[m.dimensions - 1][order - 1](m, f, p, T(charge / m.volume()));
}

#undef PLAQ_PIC_TABLE

template stages::move<float> stages::move_for(int, int);
template stages::move<double> stages::move_for(int, int);
template void deposit(const block&, int, fields<float>&, const way<float>&, double);
template void deposit(const block&, int, fields<double>&, const way<double>&, double);
template void deposit_charge(const block&, int, fields<float>&, const particles<float>&, double);
template void deposit_charge(const block&, int, fields<double>&, const particles<double>&, double);

}  // namespace plaq::pic
