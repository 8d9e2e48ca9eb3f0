// Poisson's equation -lap(phi) = rho on a periodic box of 2 pi a side and 24 x 20 x 18 points, by Fourier transforms of
// a mesh that is spread over ranks. rho is chosen so that phi = sin(x) cos(2y) + cos(3z).
//   poisson [BACKEND [WORKERS]]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <span>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/task/task.hpp"

namespace {

using plaq::fft::block;
constexpr std::array<int, 3> n{24, 20, 18};

/// use(values[i], x, y, z), with angles, of the points of a part; x runs fastest.
template <class Values, class Use>
void over(const block& part, Values values, Use use) {
  const auto angle = [&](std::size_t d, int i) { return 2 * std::numbers::pi * (part.first[d] + i) / n[d]; };
  std::size_t i = 0;
  for (int z = 0; z < part.extent[2]; ++z)
    for (int y = 0; y < part.extent[1]; ++y)
      for (int x = 0; x < part.extent[0]; ++x) use(values[i++], angle(0, x), angle(1, y), angle(2, z));
}

/// The wave number that index k stands for.
double wave(std::size_t d, int k) { return 2 * k > n[d] ? k - n[d] : k; }

}  // namespace

int main(int count, char** arguments) try {
  const char* backend = count > 1 ? arguments[1] : "fiber";
  const int workers = count > 2 ? std::atoi(arguments[2]) : 2;
  const auto world = plaq::comm::world();
  double farthest = 0;
  plaq::task::with_backend(backend, {.workers = workers}, [&](auto& pool) {
    plaq::fft::mesh mesh("poisson", world, pool, n, {.by = plaq::fft::cuts::pencils});
    const auto mine = mesh.blocks();
    std::vector<double> of_part(mine.size(), 0);  // parts are written at once
    mesh.apply_real(
        [&](const block& part, std::span<double> rho) {
          over(part, rho, [](double& v, double x, double y, double z) {
            v = 5 * std::sin(x) * std::cos(2 * y) + 9 * std::cos(3 * z);
          });
        },
        [&](const block& part, std::span<plaq::fft::complex> values) {
          std::size_t i = 0;
          for (int z = 0; z < part.extent[2]; ++z)
            for (int y = 0; y < part.extent[1]; ++y)
              for (int x = 0; x < part.extent[0]; ++x, ++i) {
                const double kx = wave(0, part.first[0] + x), ky = wave(1, part.first[1] + y), kz = wave(2, z);
                const double k2 = kx * kx + ky * ky + kz * kz;
                values[i] = k2 > 0 ? values[i] / k2 : 0;
              }
        },
        [&](const block& part, std::span<const double> phi) {
          double& most = of_part[std::size_t(std::ranges::find(mine, part) - mine.begin())];
          over(part, phi, [&](double v, double x, double y, double z) {
            most = std::max(most, std::abs(v - std::sin(x) * std::cos(2 * y) - std::cos(3 * z)));
          });
        });
    for (const double one : of_part) farthest = std::max(farthest, one);
  });
  plaq::comm::collectives all(world);
  std::array most{farthest};
  all.all_reduce(most, plaq::comm::operation::max);
  if (world.rank() == 0) std::printf("phi is exact to %.1e, on %d ranks\n", most[0], world.size());
} catch (const plaq::input_error& error) {
  std::fprintf(stderr, "poisson: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "poisson: %s\n", error.what());
  return 1;
}
