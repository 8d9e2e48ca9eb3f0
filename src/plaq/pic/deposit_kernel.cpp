// Ways of particles and their current: T. Zh. Esirkepov, Comput. Phys. Commun. 135 (2001) 144. Along each dimension the
// current's divergence is exactly the change of the charge density, so that Gauss's law stays as it was.
#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/particle_kernel.hpp"
#include "plaq/pic/shapes.hpp"
#include "plaq/pic/windows.hpp"

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

/// Of one particle. charge: per volume of a cell.
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

template <class V>
PLAQ_KERNEL linalg::number_of<V> sum_of_lanes(V v) {
  constexpr int n = linalg::lanes<V>;
  linalg::number_of<V> x[n];
  linalg::store(x, v);
  for (int half = n / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) x[l] += x[l + half];
  return x[0];
}

/// The currents of the particles of a cell, each lane its own sum, on the nodes that they can reach.
template <int D, int Order, class V>
struct currents {
  using T = linalg::number_of<V>;
  static constexpr int n = window<Order>::moved, first = window<Order>::first_moved;
  V j[3][n * (D > 1 ? n : 1) * (D > 2 ? n : 1)] = {};

  /// q: charge per volume times velocity, that of a cell in a step in dimensions that are used.
  PLAQ_KERNEL void add(const V (&from)[D], const V (&by)[3], const V (&q)[3]) {
    V s[D][n], c[D][n];
    for (int d = 0; d < D; ++d) {
      splines<Order>(from[d], T(first), s[d]);
      splines<Order>(from[d] + by[d], T(first), c[d]);
      for (int i = 0; i < n; ++i) c[d][i] -= s[d][i];
    }
    const V half = linalg::same<V>(T(0.5)), third = linalg::same<V>(T(1) / 3);
    const auto mean1 = [&](int d, int i) { return s[d][i] + half * c[d][i]; };
    const auto mean2 = [&](int d, int i, int e, int k) {
      return s[d][i] * mean1(e, k) + c[d][i] * (half * s[e][k] + third * c[e][k]);
    };
    if constexpr (D == 1) {
      V flow{};
      for (int i = 0; i < n; ++i) {
        flow -= c[0][i];
        j[0][i] += q[0] * flow;
        const V w = mean1(0, i);
        j[1][i] += q[1] * w, j[2][i] += q[2] * w;
      }
    } else if constexpr (D == 2) {
      V flow_x[n], flow_y[n];
      V sum_x{}, sum_y{};
      for (int i = 0; i < n; ++i) flow_x[i] = q[0] * (sum_x -= c[0][i]), flow_y[i] = q[1] * (sum_y -= c[1][i]);
      for (int k = 0; k < n; ++k) {
        const V wy = mean1(1, k);
        for (int i = 0; i < n - 1; ++i) j[0][i + n * k] += wy * flow_x[i];
        if (k < n - 1)
          for (int i = 0; i < n; ++i) j[1][i + n * k] += mean1(0, i) * flow_y[k];
        const V a = q[2] * wy, b = q[2] * (half * s[1][k] + third * c[1][k]);
        for (int i = 0; i < n; ++i) j[2][i + n * k] += s[0][i] * a + c[0][i] * b;
      }
    } else {
      V flow[3][n];
      for (int d = 0; d < 3; ++d) {
        V sum{};
        for (int i = 0; i < n; ++i) flow[d][i] = q[d] * (sum -= c[d][i]);
      }
      for (int l = 0; l < n; ++l)
        for (int k = 0; k < n; ++k) {
          const int row = n * (k + n * l);
          const V yz = mean2(1, k, 2, l);
          for (int i = 0; i < n - 1; ++i) j[0][i + row] += yz * flow[0][i];
          if (k < n - 1)
            for (int i = 0; i < n; ++i) j[1][i + row] += mean2(0, i, 2, l) * flow[1][k];
          if (l < n - 1)
            for (int i = 0; i < n; ++i) j[2][i + row] += mean2(0, i, 1, k) * flow[2][l];
        }
    }
  }

  /// Sums of the lanes go to where they belong around a cell.
  PLAQ_KERNEL void into(const block& m, fields<T>& f, std::ptrdiff_t cell) const {
    for (int c = 0; c < 3; ++c) {
      T* to = f.j[c].data() + cell + first * (1 + (D > 1 ? m.stride[1] : 0) + (D > 2 ? m.stride[2] : 0));
      const int nx = c == 0 ? n - 1 : n, ny = D < 2 ? 1 : c == 1 ? n - 1 : n, nz = D < 3 ? 1 : c == 2 ? n - 1 : n;
      for (int l = 0; l < nz; ++l)
        for (int k = 0; k < ny; ++k) {
          T* row = to + k * m.stride[1] + l * m.stride[2];
          for (int i = 0; i < nx; ++i) row[i] += sum_of_lanes(j[c][i + n * (k + n * l)]);
        }
    }
  }
};

/// The ways of a turn: by how much, in how many cells, and where they end.
template <class T>
struct ways {
  alignas(64) T by[3][stages::room], whole[3][stages::room], to[3][stages::room];
};

/// Returns whether all are shorter than a cell.
template <int D, class V, class T>
bool find_ways(const block& m, const stages::turn<T>& now, const T* inverse_gamma, ways<T>& out) {
  bool sound = true;
  for (int c = 0; c < 3; ++c) {
    const T per_cell = T(c < D ? m.dt / m.spacing[c] : m.dt);
    for (int l = 0; l < now.n; l += linalg::lanes<V>) {
      const V by = linalg::load<V>(now.u[c] + l) * linalg::load<V>(inverse_gamma + l) * per_cell;
      linalg::store(out.by[c] + l, by);
      if (c >= D) continue;
      const V to = linalg::load<V>(now.x[c] + l) + by;
      const V whole = to >= V{} + 1 ? V{} + 1 : to < V{} ? V{} - 1 : V{};
      linalg::store(out.whole[c] + l, whole);
      linalg::store(out.to[c] + l, to - whole);
    }
    if (c < D)
      for (int l = 0; l < now.n; ++l) sound &= std::abs(out.by[c][l]) < 1;
  }
  return sound;
}

/// So few particles in a cell are deposited one by one.
constexpr int few = 3;

template <int D, int Order, class T>
void move_all(const block& m, const motion& how, fields<T>& f, particles<T>& p, const stages::turn<T>& now,
              const T* inverse_gamma, set_apart& apart) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  constexpr int lanes = linalg::lanes<V>;
  const T density = T(how.charge / m.volume());
  ways<T> way;
  if (!find_ways<D, V>(m, now, inverse_gamma, way)) [[unlikely]]
    throw runtime_failure("a particle moves by more than a cell in a step: its momentum is no number, or a field is not");
  alignas(64) T charge[stages::room];
  for (int l = 0; l < stages::room; ++l) charge[l] = density * now.w[l];

  for_runs(now, [&](int begin, int end, std::ptrdiff_t at) {
    bool at_wall = false, at_border = false;
    point cell{};
    for (int d = 0; d < D; ++d) {
      cell[d] = p.cell[d][now.first + std::size_t(begin)];
      const bool low = cell[d] <= 0, high = cell[d] >= m.cells[d] - 1;
      at_border = at_border || low || high;
      at_wall = at_wall || (low && how.walls[d][0]) || (high && how.walls[d][1]);
    }
    if (at_border)
      for (int l = begin; l < end; ++l) {
        bool leaves = false, crosses = false;
        for (int d = 0; d < D; ++d) {
          const int to = cell[d] + int(way.whole[d][l]);
          leaves = leaves || to < 0 || to >= m.cells[d];
          crosses = crosses || (at_wall && ((to < 0 && how.walls[d][0]) || (to >= m.cells[d] && how.walls[d][1])));
        }
        if (crosses) {
          apart.at_wall.push_back(std::uint32_t(now.first) + std::uint32_t(l));
          charge[l] = 0;
          for (int d = 0; d < D; ++d) way.to[d][l] = now.x[d][l], way.whole[d][l] = 0;
        } else if (leaves) {
          apart.leaving.push_back(std::uint32_t(now.first) + std::uint32_t(l));
        }
      }
    if (end - begin <= few) {
      for (int l = begin; l < end; ++l) {
        T from[D], by[3];
        for (int d = 0; d < D; ++d) from[d] = now.x[d][l];
        for (int c = 0; c < 3; ++c) by[c] = way.by[c][l];
        deposit_way<D, Order>(m, f, at, from, by, charge[l]);
      }
      return;
    }
    currents<D, Order, V> sum;
    for (int l = begin; l < end; l += lanes) {
      V from[D], by[3], q[3];
      alignas(64) T charges[lanes];
      for (int k = 0; k < lanes; ++k) charges[k] = l + k < end ? charge[l + k] : T(0);
      const V own = linalg::load<V>(charges);
      for (int d = 0; d < D; ++d) from[d] = linalg::load<V>(now.x[d] + l);
      for (int c = 0; c < 3; ++c) {
        by[c] = linalg::load<V>(way.by[c] + l);
        q[c] = c < D ? own * T(m.spacing[c] / m.dt) : own * by[c] * T(1 / m.dt);
      }
      sum.add(from, by, q);
    }
    sum.into(m, f, at);
  });
  for (int d = 0; d < D; ++d) {
    std::copy_n(way.to[d], now.n, p.x[d].data() + now.first);
    std::int32_t* cell = p.cell[d].data() + now.first;
    for (int l = 0; l < now.n; ++l) cell[l] += std::int32_t(way.whole[d][l]);
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
