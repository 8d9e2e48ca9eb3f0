// Chain on a device: plain structs with the same layout on host and device.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plaq/base/random.hpp"
#include "plaq/dca/device/measurements.hpp"
#include "plaq/gpu/arena.hpp"
#include "plaq/gpu/inverse.hpp"

namespace plaq::dca::device {

using gpu::arena;
using gpu::array_pair;

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
  std::byte *vertices, *scratch;  ///< memory of vertex_arrays; scratch memory of scratch_bytes()
  int capacity;                   ///< largest number of vertices that fit the memory
  int target_sweeps;              ///< sweeps to be complete after the launch
  walk_state state;
  measurement_state measured;
};

/// Vertices in the order of the walk, and N: what a launch resumes from.
struct vertex_arrays {
  array_pair<double> n;  ///< capacity x capacity, column-major
  double* tau;
  int *site, *spin;
};

/// Allocates the arrays for k vertices and returns their bytes; without memory only counts them.
PLAQ_ANYWHERE inline std::size_t allocate_vertices(vertex_arrays& r, std::byte* memory, std::size_t k) {
  arena c(memory);
  c.allocate(r.n, k * k);
  c.allocate(r.tau, k);
  c.allocate(r.site, k);
  c.allocate(r.spin, k);
  return c.bytes();
}

/// Scratch arrays of a block of proposals; those of most use are allocated first. An element of B is a vertex that the
/// block can change: i is the vertex i, and k + j candidate j for insertion.
struct block_space {
  // Of a proposal
  double *uniform, *time;
  std::uint64_t* choice;
  int* kind;  ///< bit 0: insertion, bit 1: spin up
  // Of a candidate
  double* tau;
  int *site, *spin, *row_of;  ///< row_of: its row of B
  // Of elements
  int *alive, *changed;  ///< present ones in the order of the walk; those of the rows of B
  array_pair<double> b_inverse, column, row, product;
  array_pair<double> w;         ///< c x c: g(candidates, candidates) + backward^T inserted
  array_pair<double> inserted;  ///< k x c: N g(vertices, candidates)
  array_pair<double> backward;  ///< k x c: (e^V - 1) g(candidates, vertices)^T
  double* forward;              ///< k x c: g(vertices, candidates)
  // Of the change of N by m elements, to no more than k + c vertices
  int *from, *gaps, *joined;               ///< vertex that takes a position; removed ones; rows of B of new ones
  array_pair<double> left, solved, right;  ///< [element][vertex], [vertex][element] twice

  PLAQ_ANYWHERE void allocate_proposals(arena& a, std::size_t k, std::size_t count) {
    for (double** v : {&uniform, &time, &tau}) a.allocate(*v, count);
    a.allocate(choice, count);
    for (int** v : {&kind, &site, &spin, &row_of, &changed}) a.allocate(*v, count);
    a.allocate(alive, k + count);
    for (array_pair<double>* v : {&column, &row, &product}) a.allocate(*v, count);
    a.allocate(b_inverse, count * count);
  }
  PLAQ_ANYWHERE void allocate_products(arena& a, std::size_t k, std::size_t c) {
    a.allocate(w, c * c);
    a.allocate(inserted, k * c);
    a.allocate(backward, k * c);
    a.allocate(forward, k * c);
  }
  PLAQ_ANYWHERE void allocate_change(arena& a, std::size_t size, std::size_t m) {
    a.allocate(from, size);
    a.allocate(gaps, m);
    a.allocate(joined, m);
    for (array_pair<double>* v : {&left, &solved, &right}) a.allocate(*v, size * m);
  }
};

/// Scratch arrays of N from scratch.
struct rebuild_space {
  gpu::inverse_space inverse;
  double* change;        ///< largest one in a column
  array_pair<double> n;  ///< k x k

  PLAQ_ANYWHERE void allocate(arena& a, std::size_t k) {
    inverse.allocate(a, k);
    a.allocate(change, k);
    a.allocate(n, k * k);
  }
};

inline constexpr int most_flips = 8;  ///< of one step of a worm, equal to spin_worm::most_flips

/// Scratch arrays of a worm.
struct worm_space {
  double *forward, *backward;
  array_pair<double> border, worm, strength, left, right, y, b_inverse, z;
  double* weight;
  int *flipped, *interval;
  gpu::inverse_space flips[2];
  array_pair<double> n;  ///< k + 1 x k + 1: N with the worm's row and column

  PLAQ_ANYWHERE void allocate(arena& a, std::size_t k) {
    a.allocate(weight, 2);
    a.allocate(flipped, k);
    a.allocate(interval, most_flips);
    a.allocate(forward, k);
    a.allocate(backward, k);
    for (array_pair<double>* v : {&border, &worm, &strength}) a.allocate(*v, k + 1);
    for (array_pair<double>* v : {&left, &right}) a.allocate(*v, most_flips * (k + 1));
    for (array_pair<double>* v : {&y, &z}) a.allocate(*v, most_flips);
    a.allocate(b_inverse, most_flips * most_flips);
    for (gpu::inverse_space& space : flips) space.allocate(a, most_flips);
    a.allocate(n, (k + 1) * (k + 1));
  }
};

/// Returns the bytes of scratch memory for k vertices, whatever the fast memory.
inline std::size_t scratch_bytes(std::size_t k, std::size_t block_length) {
  arena block(nullptr), rebuild(nullptr), worm(nullptr);
  block_space a;
  a.allocate_proposals(block, k, block_length);
  a.allocate_products(block, k, block_length);
  a.allocate_change(block, k + block_length, block_length);
  rebuild_space{}.allocate(rebuild, k);
  worm_space{}.allocate(worm, k);
  return std::max({block.bytes(), rebuild.bytes(), worm.bytes()});
}

}  // namespace plaq::dca::device
