#include "plaq/pic/poisson.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace plaq::pic {

namespace {

/// out[a][k][b] = sum over i of matrix[k][i] in[a][i][b]; `transposed` is [i][k].
std::vector<double> transformed(const std::vector<double>& in, int before, int n, int after, const std::vector<double>& matrix,
                                const std::vector<double>& transposed) {
  std::vector<double> out(in.size());
  const auto length = std::size_t(n), inner = std::size_t(after);
  for (std::size_t a = 0; a < std::size_t(before); ++a) {
    const double* from = in.data() + a * length * inner;
    double* to = out.data() + a * length * inner;
    if (inner == 1) {
      for (std::size_t i = 0; i < length; ++i)
        for (std::size_t k = 0; k < length; ++k) to[k] += from[i] * transposed[i * length + k];
    } else {
      for (std::size_t k = 0; k < length; ++k)
        for (std::size_t i = 0; i < length; ++i)
          for (std::size_t b = 0; b < inner; ++b) to[k * inner + b] += matrix[k * length + i] * from[i * inner + b];
    }
  }
  return out;
}

}  // namespace

point nodes_of(const plan& p) {
  point out = p.cells;
  for (int d = 0; d < p.dimensions; ++d) out[d] += !p.periodic(d);
  return out;
}

poisson::poisson(const plan& p) : plan_(p) {
  for (int d = 0; d < p.dimensions; ++d) {
    modes& m = along_[std::size_t(d)];
    const int cells = p.cells[d];
    m.n = p.periodic(d) ? cells : cells - 1, m.first = !p.periodic(d);
    const auto n = std::size_t(m.n);
    m.matrix.resize(n * n), m.transposed.resize(n * n), m.eigenvalue.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const auto wave = p.periodic(d) ? (k + 1) / 2 : k + 1;  // 1, cos, sin, cos 2, ...
      const double angle = std::numbers::pi * double(wave) * (p.periodic(d) ? 2 : 1) / cells;
      const bool alone = p.periodic(d) && (wave == 0 || 2 * wave == std::size_t(cells));  // has no sine
      const double size = std::sqrt((alone ? 1.0 : 2.0) / cells), half = 2 / p.spacing(d) * std::sin(angle / 2);
      m.eigenvalue[k] = half * half;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = angle * double(i + std::size_t(m.first));
        m.matrix[k * n + i] = m.transposed[i * n + k] = size * (p.periodic(d) && (k % 2 == 1 || k == 0) ? std::cos(x) : std::sin(x));
      }
    }
  }
}

std::vector<double> poisson::solve(const std::vector<double>& rho) const {
  const auto& [x, y, z] = along_;
  const point nodes = nodes_of(plan_);
  const auto unknowns = std::size_t(x.n) * std::size_t(y.n) * std::size_t(z.n);
  const auto each = [&](auto use) {  // index of the unknown, its node
    std::size_t n = 0;
    for (int k = 0; k < z.n; ++k)
      for (int j = 0; j < y.n; ++j)
        for (int i = 0; i < x.n; ++i) use(n++, point{i + x.first, j + y.first, k + z.first});
  };
  std::vector<double> f(unknowns);
  each([&](std::size_t n, const point& at) {
    f[n] = rho[std::size_t(at[0] + plan_.cells[0] * (at[1] + plan_.cells[1] * at[2]))];
    for (int d = 0; d < plan_.dimensions; ++d) {  // what conductors beside it add
      if (plan_.periodic(d)) continue;
      const double h = plan_.spacing(d);
      if (at[d] == 1) f[n] += plan_.potentials[d][0] / (h * h);
      if (at[d] == plan_.cells[d] - 1) f[n] += plan_.potentials[d][1] / (h * h);
    }
  });
  f = transformed(f, y.n * z.n, x.n, 1, x.matrix, x.transposed);
  if (plan_.dimensions > 1) f = transformed(f, z.n, y.n, x.n, y.matrix, y.transposed);
  if (plan_.dimensions > 2) f = transformed(f, 1, z.n, x.n * y.n, z.matrix, z.transposed);
  std::size_t n = 0;
  for (const double c : z.eigenvalue)
    for (const double b : y.eigenvalue)
      for (const double a : x.eigenvalue) {
        const double sum = a + b + c;
        f[n] = sum > 0 ? f[n] / sum : 0;
        ++n;
      }
  f = transformed(f, y.n * z.n, x.n, 1, x.transposed, x.matrix);
  if (plan_.dimensions > 1) f = transformed(f, z.n, y.n, x.n, y.transposed, y.matrix);
  if (plan_.dimensions > 2) f = transformed(f, 1, z.n, x.n * y.n, z.transposed, z.matrix);

  std::vector<double> phi(std::size_t(nodes[0]) * std::size_t(nodes[1]) * std::size_t(nodes[2]));
  const auto node = [&](const point& at) { return std::size_t(at[0] + nodes[0] * (at[1] + nodes[1] * at[2])); };
  each([&](std::size_t i, const point& at) { phi[node(at)] = f[i]; });
  point at;
  for (at[2] = 0; at[2] < nodes[2]; ++at[2])
    for (at[1] = 0; at[1] < nodes[1]; ++at[1])
      for (at[0] = 0; at[0] < nodes[0]; ++at[0])
        for (int d = 0; d < plan_.dimensions; ++d)
          if (!plan_.periodic(d) && (at[d] == 0 || at[d] == plan_.cells[d])) phi[node(at)] = plan_.potentials[d][at[d] != 0];
  return phi;
}

}  // namespace plaq::pic
