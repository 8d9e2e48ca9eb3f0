// What both programs compute: heat in a plate with a flame that moves and burns fuel. A burning point takes many small
// steps, so the work is where the flame is.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Temperature and fuel of a point.
struct point {
  double t = 0, fuel = 0;
};

/// Points of a rectangle with one ghost point at each side, in rows.
struct grid {
  int nx = 0, ny = 0;  ///< without the ghosts
  std::vector<point> points;

  grid() = default;
  grid(int nx, int ny) : nx(nx), ny(ny), points(std::size_t(nx + 2) * std::size_t(ny + 2)) {}
  point& at(int x, int y) { return points[std::size_t(y + 1) * std::size_t(nx + 2) + std::size_t(x + 1)]; }
  const point& at(int x, int y) const { return const_cast<grid&>(*this).at(x, y); }
};

/// Returns the first of n points of part i of k.
inline int first_of(int i, int k, int n) { return int(std::int64_t(n) * i / k); }

/// Fills a part of the plate of n x n points that begins at (x0, y0).
inline void fill(grid& g, int x0, int y0, int n) {
  for (int y = 0; y < g.ny; ++y)
    for (int x = 0; x < g.nx; ++x) {
      const double u = (x0 + x + 0.5) / n - 0.2, v = (y0 + y + 0.5) / n - 0.3;
      g.at(x, y) = {std::exp(-200 * (u * u + v * v)), 1};
    }
}

/// Burns fuel for a time dt, in as many small steps as the temperature needs.
inline point burn(point p, double dt) {
  const int small = p.t > 0.3 && p.fuel > 0.01 ? 100 : 1;
  for (int i = 0; i < small; ++i) {
    const double burnt = dt / small * p.fuel * std::exp(-1 / (p.t + 1e-3));
    p.fuel -= burnt;
    p.t += 2 * burnt;
  }
  return p;
}

/// Stores the next state of `now`, whose ghosts are filled, in `next`.
inline void step(const grid& now, grid& next, double dt) {
  for (int y = 0; y < now.ny; ++y)
    for (int x = 0; x < now.nx; ++x) {
      const point& p = now.at(x, y);
      const double around = now.at(x - 1, y).t + now.at(x + 1, y).t + now.at(x, y - 1).t + now.at(x, y + 1).t;
      next.at(x, y) = burn({p.t + 0.2 * (around - 4 * p.t), p.fuel}, dt);
    }
}

/// Returns the highest temperature of a part.
inline double hottest(const grid& g) {
  double t = 0;
  for (int y = 0; y < g.ny; ++y)
    for (int x = 0; x < g.nx; ++x) t = std::max(t, g.at(x, y).t);
  return t;
}

/// Returns a number for all bits of a part; its sum does not depend on how the plate is divided.
inline std::uint64_t bits_of(const grid& g, int x0, int y0, int n) {
  std::uint64_t sum = 0;
  for (int y = 0; y < g.ny; ++y)
    for (int x = 0; x < g.nx; ++x)
      sum += std::bit_cast<std::uint64_t>(g.at(x, y).t) *
             (2 * (std::uint64_t(y0 + y) * std::uint64_t(n) + std::uint64_t(x0 + x)) + 1);
  return sum;
}
