// Plasmas of bench_ways, the processor time that their steps take, and what is left in the end.
#pragma once
#include <time.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "../collection/sleeping.hpp"
#include "plaq/collection/balancing.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/processes/loading.hpp"
#include "plaq/pic/step.hpp"

namespace plaq::bench {

using namespace plaq::pic;
using T = double;

/// What to run: `what` is uniform, a warm plasma with 16 particles a cell; plate, electrons from the left side of an
/// empty box; or plume, an empty box whose patches sleep in each step, longest beside the left side, so that a few
/// cores stand for many ranks.
struct task_at_hand {
  std::string what;
  int nx, ny, each, steps, balance_every;  ///< cells of the box; patches a rank
  std::vector<double> sleep = {};          ///< seconds of each patch in a step, or empty
};

/// The box in so many patches, halved in turn along x and y.
inline plan box_of(const task_at_hand& t, int patches) {
  plan p;
  p.dimensions = 2;
  p.cells = {t.nx, t.ny, 1}, p.lengths = {0.1 * t.nx, 0.1 * t.ny, 1};
  for (int d = t.nx < t.ny; patches > 1; patches /= 2, d = 1 - d) p.patches[d] *= 2;
  p.dt = 0.95 * p.courant();
  p.species_list = {{"electrons", -1, 1, pusher::boris}};
  if (t.what != "plate") return p;
  for (int d = 0; d < 2; ++d)
    p.field_boundaries[d] = {field_boundary::conducting, field_boundary::conducting},
    p.particle_boundaries[d] = {particle_boundary::absorbed, particle_boundary::absorbed};
  emitter plate{
      .centre = {0, 0.05 * t.ny, 0}, .half_width = t.ny / 64.0, .weight = 64e-8, .temperature = 0.01, .drift = 0.5};
  plate.set_flux({1e-4 / p.dt});  // 5 in a step and cell of its height
  p.emitters = {plate};
  return p;
}

inline void fill(const task_at_hand& t, const plan& p, patch<T>& self) {
  if (t.what == "uniform") {
    constexpr int per_cell = 16;
    const auto x = make_positions(p, self.mesh, 0, per_cell, false);
    const std::size_t n = x.size() / 2;
    const std::vector<double> w(n, p.cell_volume() / per_cell), drift(3 * n), thermal(3 * n, 0.1);
    pic::load(p, self, 0, {x, w, drift, thermal, false});
  }
  initialise_fields(self);
  initialise_momenta(p, self);
}

/// Returns the seconds that each patch of a plume sleeps in a step, 10 ms a rank on average.
inline std::vector<double> sleep_of_plume(const plan& p, int ranks) {
  std::vector<double> out;
  for (int j = 0; j < p.patches[1]; ++j)
    for (int i = 0; i < p.patches[0]; ++i) {
      const double x = (i + 0.5) / p.patches[0], y = (j + 0.5) / p.patches[1] - 0.5;
      out.push_back(0.1 + 3 * std::exp(-4 * x - 6 * y * y));
    }
  const double unit = 10e-3 * ranks / std::accumulate(out.begin(), out.end(), 0.0);
  for (double& seconds : out) seconds *= unit;
  return out;
}

/// Pushes the particles of a patch, or sleeps.
inline std::vector<parcel<T>> work(const task_at_hand& t, const plan& p, patch<T>& self,
                                   const std::vector<point>& shifts) {
  if (!t.sleep.empty()) be_busy(t.sleep[std::size_t(self.number)]);
  return push(p, self, shifts);
}

enum part { particles_, fields_, hand_off };

/// Processor time of this rank's parts of each step.
class times {
 public:
  explicit times(int steps) : of_(std::size_t(3 * steps)) {}
  /// Calls f and adds its time; returns its value.
  auto operator()(int step, part what, auto f) {
    struct timing {
      std::atomic<double>& to;
      double begin = now();
      ~timing() { to += now() - begin; }
    } const until_it_returns{of_[std::size_t(3 * step + what)]};
    return f();
  }
  std::vector<double> read() const { return {of_.begin(), of_.end()}; }

  /// Processor time of this thread.
  static double now() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
  /// Processor time of the process.
  static double of_process() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

 private:
  static double read_clock(clockid_t which) {
    timespec t{};
    clock_gettime(which, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  }
  std::vector<std::atomic<double>> of_;
};

/// End of a way on a rank.
struct outcome {
  double seconds = 0, processor = 0;  ///< of the second half of the steps
  double number = 0, energy = 0;      ///< of this rank's particles in the end
  double balancing = 0;               ///< seconds of processor time of all balancings
  balance_result last = {};
  void count(const patch<T>& self) {
    number += double(self.size()), energy += self.row[record::at(0, record::kinetic)];
  }
};

}  // namespace plaq::bench
