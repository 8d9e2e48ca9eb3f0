// Forward transforms of n^3 points over ranks: plaq::fft in slabs and pencils, beside FFTW's MPI transforms (one
// thread a rank, FFTW_MEASURE, which is not timed; its result transposed, as plaq::fft leaves it). Each number is
// the least wall time of several, in milliseconds, from when all ranks are ready until all have their parts, and
// behind it that of a processor, of the rank that has most; filling in the values and adding up |X|^2, by which
// results are compared, is in both.
//   mpirun -n RANKS bench_fft [FOLDER of a trace of one transform in pencils, or -] [n ...]
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/task/task.hpp"
#include "plaq/trace/session.hpp"
#ifdef PLAQ_BENCH_FFTW
#include <fftw3-mpi.h>
#include <mpi.h>
#endif

using namespace plaq;

namespace {

constexpr int repeats = 5;

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double value_at(int n, int x, int y, int z) {
  const std::uint64_t i =
      (std::uint64_t(z) * std::uint64_t(n) + std::uint64_t(y)) * std::uint64_t(n) + std::uint64_t(x);
  return double((i * 2654435761u) % 1000003) / 1000003 - 0.5;
}

/// The least wall time over repeats, and the most of a processor in that.
template <class Once>
std::array<double, 2> milliseconds(comm::collectives& all, Once once) {
  std::array<double, 2> best{1e30, 0};
  for (int k = 0; k < repeats; ++k) {
    all.barrier();
    const stopwatch watch;
    const double start = processor_time();
    once();
    std::array<double, 2> took{watch.seconds(), processor_time() - start};
    all.all_reduce(took, comm::operation::max);
    if (1e3 * took[0] < best[0]) best = {1e3 * took[0], 1e3 * took[1]};
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  const auto world = comm::world();
  comm::collectives all(world);
  const bool speaks = world.rank() == 0;
  const std::string folder = count > 1 ? arguments[1] : "-";
  std::vector<int> sizes;
  for (int i = 2; i < count; ++i) sizes.push_back(std::atoi(arguments[i]));
  if (sizes.empty()) sizes = {128, 256};
  if (speaks) std::printf("%d ranks\n%5s %8s %20s %20s %20s\n", world.size(), "n", "", "slabs", "pencils", "FFTW");
#ifdef PLAQ_BENCH_FFTW
  fftw_mpi_init();
#endif
  for (const int n : sizes)
    for (const bool real : {false, true}) {
      std::vector<std::array<double, 2>> line;
      std::vector<double> sums;  // of |X|^2
      for (const auto by : {fft::cuts::slabs, fft::cuts::pencils})
        task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
          fft::mesh mesh("mesh", world, pool, {n, n, n}, {.by = by});
          double sum = 0;
          const auto add = [&](const fft::block&, std::span<const fft::complex> k) {
            for (const auto& v : k) sum += std::norm(v);
          };
          const auto each = [&](const fft::block& b, auto values) {
            std::size_t i = 0;
            for (int z = 0; z < b.extent[2]; ++z)
              for (int y = 0; y < b.extent[1]; ++y)
                for (int x = 0; x < b.extent[0]; ++x)
                  values[i++] = value_at(n, b.first[0] + x, b.first[1] + y, b.first[2] + z);
          };
          line.push_back(milliseconds(all, [&] {
            sum = 0;
            if (real)
              mesh.forward_real([&](const fft::block& b, std::span<double> v) { each(b, v); }, add);
            else
              mesh.forward([&](const fft::block& b, std::span<fft::complex> v) { each(b, v); }, add);
          }));
          std::array total{sum};
          all.all_reduce(total, comm::operation::sum);
          sums.push_back(total[0]);
          if (folder != "-" && by == fft::cuts::pencils && !real && n == sizes.front()) {
            trace::session record({.folder = folder, .rank = world.rank()});
            mesh.forward([&](const fft::block& b, std::span<fft::complex> v) { each(b, v); }, add);
          }
        });
#ifdef PLAQ_BENCH_FFTW
      ptrdiff_t planes = 0, first = 0, turned = 0, first_turned = 0;
      const ptrdiff_t in_x = real ? n / 2 + 1 : n;
      const ptrdiff_t room =
          fftw_mpi_local_size_3d_transposed(n, n, in_x, MPI_COMM_WORLD, &planes, &first, &turned, &first_turned);
      auto* values = fftw_alloc_complex(std::size_t(room));
      auto* reals = reinterpret_cast<double*>(values);
      const unsigned how = FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT;
      const auto plan = real ? fftw_mpi_plan_dft_r2c_3d(n, n, n, reals, values, MPI_COMM_WORLD, how)
                             : fftw_mpi_plan_dft_3d(n, n, n, values, values, MPI_COMM_WORLD, FFTW_FORWARD, how);
      double sum = 0;
      line.push_back(milliseconds(all, [&] {
        const ptrdiff_t row = real ? 2 * in_x : n;
        for (int z = 0; z < planes; ++z)
          for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x) {
              const double v = value_at(n, x, y, int(first) + z);
              const ptrdiff_t at = (ptrdiff_t(z) * n + y) * row + x;
              if (real)
                reals[at] = v;
              else
                values[at][0] = v, values[at][1] = 0;
            }
        fftw_execute(plan);
        sum = 0;
        for (ptrdiff_t i = 0; i < turned * n * in_x; ++i)
          sum += values[i][0] * values[i][0] + values[i][1] * values[i][1];
      }));
      fftw_destroy_plan(plan);
      fftw_free(values);
      std::array total{sum};
      all.all_reduce(total, comm::operation::sum);
      sums.push_back(total[0]);
#endif
      for (const double other : sums)
        if (std::abs(other - sums[0]) > 1e-10 * sums[0]) {
          std::fprintf(stderr, "transforms of %d points a side differ\n", n);
          return 1;
        }
      if (!speaks) continue;
      std::printf("%5d %8s", n, real ? "real" : "complex");
      for (const auto& [wall, busy] : line) std::printf("   %8.1f (%7.1f)", wall, busy);
      std::printf("\n");
      std::fflush(stdout);
    }
}
