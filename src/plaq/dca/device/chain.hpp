// Chain on a device: plain structs with the same layout on host and device.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plaq/base/random.hpp"
#include "plaq/dca/device/arena.hpp"
#include "plaq/dca/device/measurements.hpp"
#include "plaq/gpu/inverse.hpp"

namespace plaq::dca::device {

/// View of a g0_table in the device's memory.
struct bath_view {
  double beta, scale;  ///< scale: segments per time
  int sites, segments;
  const double* coefficients;
  const int* difference;

  /// Returns g(tau_i - tau_j) between sites i and j; equal times count as 0+.
  PLAQ_ANYWHERE double operator()(int site_i, double tau_i, int site_j, double tau_j) const {
    const double tau = tau_i - tau_j;
    return tau < 0 ? -value(site_i, site_j, tau + beta) : value(site_i, site_j, tau);
  }

  /// Evaluates forward = g(tau_i - tau) and backward = g(tau - tau_i); both take tau_i = tau as tau_i just after tau.
  PLAQ_ANYWHERE void both_directions(int site_i, double tau_i, int site, double tau, double& forward,
                                     double& backward) const {
    const double distance = std::abs(tau_i - tau);
    const double later = value(site, site_i, distance), earlier = -value(site, site_i, beta - distance);
    const bool before = tau_i < tau;
    forward = before ? earlier : later;
    backward = before ? later : earlier;
  }

  static constexpr int terms = 8;  ///< g0_table::terms

 private:
  PLAQ_ANYWHERE double value(int i, int j, double tau) const {
    const double x = tau * scale;
    const int segment = x < segments ? int(x) : segments - 1;
    const double* p = coefficients + (std::size_t(difference[i * sites + j]) * segments + segment) * terms;
    double sum = p[terms - 1];
    for (int n = terms - 2; n >= 0; --n) sum = std::fma(sum, x - segment, p[n]);
    return sum;
  }
};

/// Parameters of the walk, common to all chains.
struct walk_rules {
  double beta, K;
  int sites;
  double strength[2];  ///< e^V - 1 for equal spin and auxiliary spin, and for opposite ones
  int block_length, proposals_per_sweep, sweeps_between_rebuilds, sweeps_between_worms, longest_worm;
};

/// Status of a walk after a launch.
enum class walk_status : int {
  done,
  out_of_capacity,  ///< the next block might exceed the capacity: enlarge the workspace and resume
  not_finite        ///< the weight or an element of N is not finite
};

/// State of a chain that, with its workspace, the next launch resumes from.
struct walk_state {
  int order = 0;
  double sign = 1;
  int sweeps = 0, block = 0;  ///< complete sweeps; complete blocks of the current sweep
  bool n_outdated = true;     ///< only the vertices are set; N is not computed yet
  std::uint64_t proposed = 0, accepted = 0;
  double drift = 0;  ///< largest change of an element of N by a rebuild
  walk_status status = walk_status::done;
};

/// Chain as a launch sees it.
struct chain {
  bath_view g0;
  double g_equal;  ///< g(0+) on one site
  stream_id proposals, worms;
  std::byte *shared, *global;  ///< parts of the workspace
  int capacity;                ///< largest number of vertices that fit the workspace
  int target_sweeps;           ///< sweeps to be complete after the launch
  walk_state state;
  measurement_state measured;
};

/// Workspace of a chain. Rows and columns of N are in the order of the vertices' slots; the walk numbers the vertices
/// otherwise.
struct workspace {
  // Shared part: what a launch resumes from and every step uses.
  double* n[2];       ///< k x k, column-major
  double* tau;        ///< of a slot
  double* vector[4];  ///< of one step, two for each spin
  double *forward, *backward;
  int *site, *spin;     ///< of a slot
  int* slot_of;         ///< of a vertex by its number, -1 if it was removed in this block
  int *number, *alive;  ///< of a slot; numbers of the present vertices, in the order of the walk
  int *changed, *list;  ///< numbers changed in this block; scratch for renumbering
  // Global part.
  double* work[2];  ///< k + 1 x k + 1 each
  double *row, *column;
  int *pivot, *indices;
  double *border[2], *worm[2], *strength[2], *left[2], *right[2];  ///< of a worm
  double *y[2], *b_inverse[2], *z[2], *weight;
  int *flipped, *interval;

  PLAQ_ANYWHERE gpu::inverse_space inverse_space() const { return {row, column, pivot}; }
};

inline constexpr int most_flips = 8;  ///< of one step of a worm, equal to spin_worm::most_flips

/// Allocates the shared part for k vertices and returns its bytes; without memory only counts them.
PLAQ_ANYWHERE inline std::size_t allocate_shared(workspace& r, std::byte* memory, std::size_t k,
                                                 std::size_t block_length) {
  arena c(memory);
  for (double*& n : r.n) c.allocate(n, k * k);
  c.allocate(r.tau, k);
  for (double*& v : r.vector) c.allocate(v, k + 1);
  c.allocate(r.forward, k);
  c.allocate(r.backward, k);
  c.allocate(r.site, k);
  c.allocate(r.spin, k);
  c.allocate(r.slot_of, k);
  c.allocate(r.number, k);
  c.allocate(r.alive, k);
  c.allocate(r.changed, block_length);
  c.allocate(r.list, k);
  return c.bytes();
}

/// Allocates the global part for k vertices and returns its bytes; without memory only counts them.
PLAQ_ANYWHERE inline std::size_t allocate_global(workspace& r, std::byte* memory, std::size_t k) {
  arena c(memory);
  for (double*& w : r.work) c.allocate(w, (k + 1) * (k + 1));
  c.allocate(r.row, k);
  c.allocate(r.column, k);
  c.allocate(r.pivot, k);
  c.allocate(r.indices, k);
  for (int side = 0; side < 2; ++side) {
    for (double** v : {&r.border[side], &r.worm[side], &r.strength[side]}) c.allocate(*v, k + 1);
    for (double** v : {&r.left[side], &r.right[side]}) c.allocate(*v, most_flips * (k + 1));
    c.allocate(r.y[side], most_flips);
    c.allocate(r.z[side], most_flips);
    c.allocate(r.b_inverse[side], most_flips * most_flips);
  }
  c.allocate(r.weight, 2);
  c.allocate(r.flipped, k);
  c.allocate(r.interval, most_flips);
  return c.bytes();
}

}  // namespace plaq::dca::device
