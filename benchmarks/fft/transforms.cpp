// Forward transforms of n^3 points over ranks: plaq::fft in slabs and pencils, beside FFTW's MPI transforms (one
// thread a rank, FFTW_MEASURE, which is not timed; its result transposed, as plaq::fft leaves it). The three take
// turns. Each number is the least wall time of several, in milliseconds, from when all ranks are ready until all have
// their parts, and behind it the least processor time, of the rank that has most; filling in the values and adding up
// |X|^2, by which results are compared, is in both.
//   mpirun -n RANKS bench_fft [FOLDER of a trace of one transform in pencils, or -] [n ...]
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
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

constexpr int repeats = 9;

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double value_at(int n, int x, int y, int z) {
  const auto i = (std::uint32_t(z) * std::uint32_t(n) + std::uint32_t(y)) * std::uint32_t(n) + std::uint32_t(x);
  return double(std::int32_t(i * 2654435761u)) * 0x1p-32;
}

struct variant {
  std::function<double()> once;  ///< returns this rank's part of the sum of |X|^2
  double wall = 1e30, busy = 1e30, sum = 0;
};

/// Measures each variant in turn: least wall and processor times in milliseconds.
void measure(comm::collectives& all, std::vector<variant>& variants) {
  for (int k = 0; k <= repeats; ++k)  // the first is not counted
    for (auto& v : variants) {
      all.barrier();
      const stopwatch watch;
      const double start = processor_time();
      std::array sum{v.once()};
      std::array took{1e3 * watch.seconds(), 1e3 * (processor_time() - start)};
      all.all_reduce(took, comm::operation::max);
      all.all_reduce(sum, comm::operation::sum);
      v.sum = sum[0];
      if (k > 0) v.wall = std::min(v.wall, took[0]), v.busy = std::min(v.busy, took[1]);
    }
}

#ifdef PLAQ_BENCH_FFTW
/// Transform by FFTW.
class fftw_mesh {
 public:
  fftw_mesh(int n, bool real) : n_(n), real_(real), in_x_(real ? n / 2 + 1 : n) {
    const ptrdiff_t room =
        fftw_mpi_local_size_3d_transposed(n, n, in_x_, MPI_COMM_WORLD, &planes_, &first_, &turned_, &first_turned_);
    values_ = fftw_alloc_complex(std::size_t(room));
    const unsigned how = FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT;
    plan_ = real ? fftw_mpi_plan_dft_r2c_3d(n, n, n, reals(), values_, MPI_COMM_WORLD, how)
                 : fftw_mpi_plan_dft_3d(n, n, n, values_, values_, MPI_COMM_WORLD, FFTW_FORWARD, how);
  }
  fftw_mesh(const fftw_mesh&) = delete;
  ~fftw_mesh() {
    fftw_destroy_plan(plan_);
    fftw_free(values_);
  }
  double once() {
    const ptrdiff_t row = real_ ? 2 * in_x_ : n_;
    for (int z = 0; z < planes_; ++z)
      for (int y = 0; y < n_; ++y)
        for (int x = 0; x < n_; ++x) {
          const double v = value_at(n_, x, y, int(first_) + z);
          const ptrdiff_t at = (ptrdiff_t(z) * n_ + y) * row + x;
          if (real_)
            reals()[at] = v;
          else
            values_[at][0] = v, values_[at][1] = 0;
        }
    fftw_execute(plan_);
    double sum = 0;
    for (ptrdiff_t i = 0; i < turned_ * n_ * in_x_; ++i)
      sum += values_[i][0] * values_[i][0] + values_[i][1] * values_[i][1];
    return sum;
  }

 private:
  double* reals() { return reinterpret_cast<double*>(values_); }
  const int n_;
  const bool real_;
  const ptrdiff_t in_x_;
  ptrdiff_t planes_ = 0, first_ = 0, turned_ = 0, first_turned_ = 0;
  fftw_complex* values_;
  fftw_plan plan_;
};
#endif

/// Transform in slabs or pencils.
double transform_once(fft::mesh& mesh, bool real) {
  const int n = mesh.extent()[0];
  double sum = 0;
  const auto add = [&](const fft::block&, std::span<const fft::complex> k) {
    for (const auto& v : k) sum += v.real() * v.real() + v.imag() * v.imag();
  };
  const auto each = [&](const fft::block& b, auto values) {
    std::size_t i = 0;
    for (int z = 0; z < b.extent[2]; ++z)
      for (int y = 0; y < b.extent[1]; ++y)
        for (int x = 0; x < b.extent[0]; ++x) values[i++] = value_at(n, b.first[0] + x, b.first[1] + y, b.first[2] + z);
  };
  if (real)
    mesh.forward_real([&](const fft::block& b, std::span<double> v) { each(b, v); }, add);
  else
    mesh.forward([&](const fft::block& b, std::span<fft::complex> v) { each(b, v); }, add);
  return sum;
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
    for (const bool real : {false, true})
      task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
        fft::mesh slabs("slabs", world, pool, {n, n, n}),
            pencils("pencils", world, pool, {n, n, n}, {.by = fft::cuts::pencils});
        std::vector<variant> variants{{[&] { return transform_once(slabs, real); }},
                                      {[&] { return transform_once(pencils, real); }}};
#ifdef PLAQ_BENCH_FFTW
        fftw_mesh peer(n, real);
        variants.push_back({[&] { return peer.once(); }});
#endif
        measure(all, variants);
        if (folder != "-" && !real && n == sizes.front()) {
          trace::session record({.folder = folder, .rank = world.rank()});
          transform_once(pencils, real);
        }
        for (const auto& v : variants)
          if (std::abs(v.sum - variants[0].sum) > 1e-10 * variants[0].sum)
            throw runtime_failure("transforms of " + std::to_string(n) + " points a side differ");
        if (!speaks) return;
        std::printf("%5d %8s", n, real ? "real" : "complex");
        for (const auto& v : variants) std::printf("   %8.1f (%7.1f)", v.wall, v.busy);
        std::printf("\n");
        std::fflush(stdout);
      });
}
