// Current of paths: T. Zh. Esirkepov, Comput. Phys. Commun. 135 (2001) 144. Along each dimension the current's
// divergence is exactly the change of the charge density, so that the residual of Gauss's law does not change.
#pragma once
#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/particles/registers.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/particles/shapes.hpp"

namespace plaq::pic {

/// Mean of the product of two shapes over the step: s and t before it, ds and dt their change.
template <class V, class W>
PLAQ_KERNEL V mean_product(V s, V ds, W t, W dt) {
  using T = number_of<V>;
  return s * (t + T(0.5) * dt) + ds * (T(0.5) * t + T(1) / 3 * dt);
}

/// Current of particles that stay in their cell, on the nodes that they reach; each lane has a sum of its own. Rings
/// are those of a cylinder, in the cell `ring` from the axis.
template <int D, int Order, class V, bool Rings = false>
struct cell_current {
  using T = number_of<V>;
  static constexpr int n = shape<Order>::nodes, first = shape<Order>::first_node;
  static constexpr int ny = D > 1 ? n : 1, nz = D > 2 ? n : 1;
  /// Number of values of component c along dimension d; one less along a used dimension c.
  static constexpr int extent(int c, int d) { return d >= D ? 1 : c == d ? n - 1 : n; }
  /// Index of the first value of component c.
  static constexpr int start(int c) {
    int index = 0;
    for (int b = 0; b < c; ++b) index += extent(b, 0) * extent(b, 1) * extent(b, 2);
    return index;
  }
  static constexpr int size = start(3);
  T correction;
  V j[size] = {};

  PLAQ_KERNEL explicit cell_current(int ring) : correction(T(Rings ? ring_correction(Order, ring) : 0)) {}

  PLAQ_KERNEL V& at(int c, int i, int k = 0, int l = 0) {
    return j[start(c) + i + extent(c, 0) * (k + extent(c, 1) * l)];
  }

  /// Adds a register of particles. s: weights of the nodes before the step; to: ends of the paths; q: charge per volume
  /// times velocity, in dimensions that are used that of a cell in a step.
  PLAQ_KERNEL void add(const V (&s)[D][n], const V (&to)[D], const V (&q)[3]) {
    V c[D][n], flow[D][n];
    for (int d = 0; d < D; ++d) {
      splines<Order>(to[d], T(first), c[d]);
      if constexpr (Rings)
        if (d == 1) correct_for_rings(correction, to[d], c[d], -first);
      V sum{};
      for (int i = 0; i < n; ++i) {
        c[d][i] -= s[d][i];
        flow[d][i] = q[d] * (sum -= c[d][i]);
      }
    }
    const auto mean1 = [&](int d, int i) { return s[d][i] + T(0.5) * c[d][i]; };
    if constexpr (D == 1) {
      for (int i = 0; i < n - 1; ++i) at(0, i) += flow[0][i];
      for (int i = 0; i < n; ++i) at(1, i) += q[1] * mean1(0, i), at(2, i) += q[2] * mean1(0, i);
    } else if constexpr (D == 2) {
      for (int k = 0; k < n; ++k) {
        const V my = mean1(1, k);
        for (int i = 0; i < n - 1; ++i) at(0, i, k) += my * flow[0][i];
      }
      for (int i = 0; i < n; ++i) {
        const V mx = mean1(0, i);
        for (int k = 0; k < n - 1; ++k) at(1, i, k) += mx * flow[1][k];
      }
      for (int k = 0; k < n; ++k) {
        const V a = q[2] * mean1(1, k), b = q[2] * (T(0.5) * s[1][k] + T(1) / 3 * c[1][k]);
        for (int i = 0; i < n; ++i) at(2, i, k) += s[0][i] * a + c[0][i] * b;
      }
    } else {
      const auto mean2 = [&](int d, int i, int e, int k) { return mean_product(s[d][i], c[d][i], s[e][k], c[e][k]); };
      for (int l = 0; l < n; ++l)
        for (int k = 0; k < n; ++k) {
          const V yz = mean2(1, k, 2, l);
          for (int i = 0; i < n - 1; ++i) at(0, i, k, l) += yz * flow[0][i];
        }
      for (int l = 0; l < n; ++l)
        for (int i = 0; i < n; ++i) {
          const V xz = mean2(0, i, 2, l);
          for (int k = 0; k < n - 1; ++k) at(1, i, k, l) += xz * flow[1][k];
        }
      for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i) {
          const V xy = mean2(0, i, 1, k);
          for (int l = 0; l < n - 1; ++l) at(2, i, k, l) += xy * flow[2][l];
        }
    }
  }

  /// Adds the sums of the lanes to J around a cell.
  PLAQ_KERNEL void add_to(const patch_grid& m, fields<T>& f, std::ptrdiff_t cell) const {
    alignas(64) T sum[size];
    sums_of_lanes(j, sum);
    const T* from = sum;
    for (int c = 0; c < 3; ++c) {
      T* to = f.j[std::size_t(c)].data() + cell + first * (1 + (D > 1 ? m.stride[1] : 0) + (D > 2 ? m.stride[2] : 0));
      for (int l = 0; l < extent(c, 2); ++l)
        for (int k = 0; k < extent(c, 1); ++k)
          for (int i = 0; i < extent(c, 0); ++i) to[i + k * m.stride[1] + l * m.stride[2]] += *from++;
    }
  }
};

/// Current of single paths that begin in a cell and end there or in the next one; lanes are nodes along x. Rings are
/// those of a cylinder, from the cell `ring` from the axis.
template <int D, int Order, class T, bool Rings = false>
struct path_current {
  static constexpr int n = shape<Order>::moved, first = shape<Order>::first_moved;
  using R = linalg::simd<T, n <= 4 ? 4 : 8>;
  static constexpr int width = lanes<R>, ny = D > 1 ? n : 1, nz = D > 2 ? n : 1;
  int ring;
  R j[3][ny * nz] = {};

  PLAQ_KERNEL explicit path_current(int cell_from_axis) : ring(cell_from_axis) {}

  /// Shape before the step and its change, on all nodes.
  struct shape_change {
    R before, change;
    PLAQ_KERNEL shape_change(T from, T to) {
      R node;
      for (int i = 0; i < width; ++i) node[i] = T(first + i);
      before = spline<Order>(linalg::same<R>(from) - node);
      change = spline<Order>(linalg::same<R>(to) - node) - before;
    }
  };
  /// Returns the sums over the lanes up to each.
  PLAQ_KERNEL static R running_sum(R v) {
#pragma GCC unroll 3
    for (int by = 1; by < width; by *= 2) {
      linalg::lane_numbers<R> from;
      for (int l = 0; l < width; ++l) from[l] = l < by ? width : l - by;
      v += __builtin_shuffle(v, R{}, from);
    }
    return v;
  }

  /// Adds a path. charge: per volume of a cell. The start lies in the cell; the displacement is in cells, in dimensions
  /// that are not used in lengths.
  PLAQ_KERNEL void add(const patch_grid& m, const T* start, const T* displacement, T charge) {
    T q[3];
    for (int c = 0; c < 3; ++c)
      q[c] = charge * (c < D ? T(m.spacing[std::size_t(c)] / m.dt) : displacement[c] * T(1 / m.dt));
    const shape_change x(start[0], start[0] + displacement[0]);
    R inner;  // there is no flow beyond the last node
    for (int i = 0; i < width; ++i) inner[i] = i < n - 1 ? T(1) : T(0);
    const R flow_x = -q[0] * inner * running_sum(x.change), mean_x = x.before + T(0.5) * x.change;
    if constexpr (D == 1) {
      j[0][0] += flow_x, j[1][0] += q[1] * mean_x, j[2][0] += q[2] * mean_x;
      return;
    }
    alignas(64) T s[D][width], c[D][width];
    for (int d = 1; d < D; ++d) {
      const shape_change across(start[d], start[d] + displacement[d]);
      linalg::store(s[d], across.before), linalg::store(c[d], across.change);
    }
    if constexpr (Rings) {
      const T from = start[1], to = from + displacement[1];
      const int over = to >= 1 ? 1 : to < 0 ? -1 : 0;
      const T before = T(ring_correction(Order, ring));
      correct_for_rings(before, from, s[1], -first);
      correct_for_rings(-before, from, c[1], -first);
      correct_for_rings(T(ring_correction(Order, ring + over)), to - T(over), c[1], over - first);
    }
    if constexpr (D == 2) {
      T flow = 0;
#pragma GCC unroll 6
      for (int k = 0; k < n; ++k) {
        const T mean_y = s[1][k] + T(0.5) * c[1][k];
        j[0][k] += mean_y * flow_x;
        flow -= c[1][k];
        if (k < n - 1) j[1][k] += (q[1] * flow) * mean_x;
        j[2][k] += q[2] * mean_y * x.before + q[2] * (T(0.5) * s[1][k] + T(1) / 3 * c[1][k]) * x.change;
      }
    } else if constexpr (D == 3) {
      T flow_y[n], flow_z[n], sum_y = 0, sum_z = 0;
      for (int i = 0; i < n; ++i) flow_y[i] = q[1] * (sum_y -= c[1][i]), flow_z[i] = q[2] * (sum_z -= c[2][i]);
      for (int l = 0; l < n; ++l) {
        const R xz = mean_product(x.before, x.change, linalg::same<R>(s[2][l]), linalg::same<R>(c[2][l]));
        for (int k = 0; k < n; ++k) {
          j[0][k + n * l] += mean_product(s[1][k], c[1][k], s[2][l], c[2][l]) * flow_x;
          if (k < n - 1) j[1][k + n * l] += flow_y[k] * xz;
          if (l < n - 1)
            j[2][k + n * l] +=
                flow_z[l] * mean_product(x.before, x.change, linalg::same<R>(s[1][k]), linalg::same<R>(c[1][k]));
        }
      }
    }
  }

  /// Adds the current to J around a cell.
  PLAQ_KERNEL void add_to(const patch_grid& m, fields<T>& f, std::ptrdiff_t cell) const {
    for (int c = 0; c < 3; ++c) {
      T* to = f.j[std::size_t(c)].data() + cell + first * (1 + (D > 1 ? m.stride[1] : 0) + (D > 2 ? m.stride[2] : 0));
      for (int l = 0; l < nz; ++l)
        for (int k = 0; k < ny; ++k) {
          T* row = to + k * m.stride[1] + l * m.stride[2];
          const R add = j[c][k + n * l];
          if constexpr (n == width)
            linalg::store(row, linalg::load<R>(row) + add);
          else
            for (int i = 0; i < n; ++i) row[i] += add[i];
        }
    }
  }
};

}  // namespace plaq::pic
