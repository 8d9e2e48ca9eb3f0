// What a walk on a device is made of: plain structs, the same on host and device.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plaq/base/random.hpp"
#include "plaq/dca/device/cutter.hpp"
#include "plaq/dca/device/measurements.hpp"
#include "plaq/gpu/inverse.hpp"

namespace plaq::dca::device {

/// A g0_table, whose numbers lie in the device's memory.
struct bath_view {
  double beta, scale;  ///< scale: segments per time
  int sites, segments;
  const double* coefficients;
  const int* difference;

  /// g(tau_i - tau_j) between sites i and j; equal times count as 0+.
  PLAQ_ANYWHERE double operator()(int site_i, double tau_i, int site_j, double tau_j) const {
    const double tau = tau_i - tau_j;
    return tau < 0 ? -value(site_i, site_j, tau + beta) : value(site_i, site_j, tau);
  }

  /// forward = g(tau_i - tau) and backward = g(tau - tau_i); tau_i = tau is read as tau_i just after tau in both.
  PLAQ_ANYWHERE void both_ways(int site_i, double tau_i, int site, double tau, double& forward,
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

/// What all chains have in common.
struct walk_rules {
  double beta, K;
  int sites;
  double strength[2];  ///< e^V - 1 where spin and auxiliary spin are the same, and where they differ
  int block_length, proposals_per_sweep, sweeps_between_rebuilds, sweeps_between_worms, longest_worm;
};

enum class outcome : int {
  done,
  wants_room,  ///< the next block might have more vertices than there is room for: enlarge and go on
  not_finite   ///< the weight or an element of N
};

/// Where a chain stands: it goes on from here, and from its room.
struct walk_state {
  int order = 0;
  double sign = 1;
  int sweeps = 0, block = 0;  ///< complete ones; blocks in the sweep under way
  bool fresh = true;          ///< vertices only; N is still to be computed
  std::uint64_t proposed = 0, accepted = 0;
  double drift = 0;  ///< largest change of an element of N by a rebuild
  outcome how = outcome::done;
};

struct chain {
  bath_view g0;
  double g_equal;  ///< g(0+) on one site
  stream_id proposals, worms;
  std::byte *hot, *cold;  ///< see room
  int capacity;           ///< vertices that there is room for
  int until;              ///< sweeps that are to be complete
  walk_state state;
  measurement_state measured;
};

/// Room of a chain. Vertices have slots, which N's rows and columns go by; the walk numbers them otherwise.
struct room {
  // What a walk goes on with, and what every step uses.
  double* n[2];       ///< k x k, column-major
  double* tau;        ///< of a slot
  double* vector[4];  ///< of one step; two for each spin
  double *forward, *backward;
  int *site, *spin;     ///< of a slot
  int* slot_of;         ///< of a vertex by its number, -1 if it was removed in this block
  int *number, *alive;  ///< of a slot; the numbers of those that are there, in the order of the walk
  int *changed, *list;  ///< numbers: changed in this block; where they are put in order
  // The rest.
  double* work[2];  ///< k + 1 x k + 1 each
  double *row, *column;
  int *pivot, *found;
  double *fresh[2], *worm[2], *strength[2], *left[2], *right[2];  ///< of a worm
  double *y[2], *b_inverse[2], *z[2], *weight;
  int *turned, *passed;

  PLAQ_ANYWHERE gpu::inverse_space inverse_space() const { return {row, column, pivot}; }
};

inline constexpr int most_flips = 8;  ///< of one step of a worm: spin_worm::most_flips

/// For k vertices. Returns the bytes; without memory that is all.
PLAQ_ANYWHERE inline std::size_t cut_hot(room& r, std::byte* memory, std::size_t k, std::size_t block_length) {
  cutter c(memory);
  for (double*& n : r.n) c.cut(n, k * k);
  c.cut(r.tau, k);
  for (double*& v : r.vector) c.cut(v, k + 1);
  c.cut(r.forward, k);
  c.cut(r.backward, k);
  c.cut(r.site, k);
  c.cut(r.spin, k);
  c.cut(r.slot_of, k);
  c.cut(r.number, k);
  c.cut(r.alive, k);
  c.cut(r.changed, block_length);
  c.cut(r.list, k);
  return c.bytes();
}

PLAQ_ANYWHERE inline std::size_t cut_cold(room& r, std::byte* memory, std::size_t k) {
  cutter c(memory);
  for (double*& w : r.work) c.cut(w, (k + 1) * (k + 1));
  c.cut(r.row, k);
  c.cut(r.column, k);
  c.cut(r.pivot, k);
  c.cut(r.found, k);
  for (int side = 0; side < 2; ++side) {
    for (double** v : {&r.fresh[side], &r.worm[side], &r.strength[side]}) c.cut(*v, k + 1);
    for (double** v : {&r.left[side], &r.right[side]}) c.cut(*v, most_flips * (k + 1));
    c.cut(r.y[side], most_flips);
    c.cut(r.z[side], most_flips);
    c.cut(r.b_inverse[side], most_flips * most_flips);
  }
  c.cut(r.weight, 2);
  c.cut(r.turned, k);
  c.cut(r.passed, most_flips);
  return c.bytes();
}

}  // namespace plaq::dca::device
