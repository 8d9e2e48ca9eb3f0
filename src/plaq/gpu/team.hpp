// The threads of a block, as kernels see them. A kernel is a template over its team, compiled for a GPU with
// device_team and for the host with serial_team or with thread_team of host_team.hpp.
//
// All threads of a team run the kernel, each with variables of its own. They share memory, which is read and
// written inside the operations of the team alone, each of which ends when all threads have ended it:
//
//   each(n, f)             f(i) for every i < n
//   grid(rows, columns, f) f(i, j) for every i < rows, j < columns, neighbours in i on neighbouring threads
//   once(f)                f() on one thread
//   value(f)               result of f(), to all threads; f writes nothing
//   sum(n, add)            sum_i, to all threads: add(i, sum) gives the sum with term i
//   sums(columns, n, add, store)  store(j, sum_i) for every j < columns: add(i, j, sum) as above
//   sums_where(columns, n, wanted, add, store)  the same for every j with wanted(j)
//   select(n, wanted, store)  store(position, i) for every i < n with wanted(i), in order; their number, to all threads
//   largest(n, value)      where value(i) is largest, the first such i, to all threads
//
// Items of one operation run at once: none writes what another one reads. A sum has `lanes` parts, of terms at that
// distance, and these are added by halves. So it has the same bits for any number of threads, on the host and
// on the device; kernels write std::fma where they want one, and are compiled without contraction of their own.
#pragma once
#include <cmath>

#include "plaq/base/anywhere.hpp"

namespace plaq::gpu {

inline constexpr int lanes = 32;

/// Team of one thread, of the host or of a device.
class serial_team {
 public:
  template <class F>
  PLAQ_BY_TEAM void each(int n, F&& f) {
    for (int i = 0; i < n; ++i) f(i);
  }
  template <class F>
  PLAQ_BY_TEAM void grid(int rows, int columns, F&& f) {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) f(i, j);
  }
  template <class F>
  PLAQ_BY_TEAM void once(F&& f) {
    f();
  }
  template <class F>
  PLAQ_BY_TEAM auto value(F&& f) {
    return f();
  }
  template <class F>
  PLAQ_BY_TEAM double sum(int n, F&& add) {
    double part[lanes] = {};
    for (int first = 0; first < n; first += lanes)
      for (int l = 0; l < lanes && first + l < n; ++l) part[l] = add(first + l, part[l]);
    for (int apart = lanes / 2; apart > 0; apart /= 2)
      for (int l = 0; l < apart; ++l) part[l] += part[l + apart];
    return part[0];
  }
  template <class F, class Store>
  PLAQ_BY_TEAM void sums(int columns, int n, F&& add, Store&& store) {
    sums_where(columns, n, [](int) { return true; }, add, store);
  }
  template <class Wanted, class F, class Store>
  PLAQ_BY_TEAM void sums_where(int columns, int n, Wanted&& wanted, F&& add, Store&& store) {
    for (int j = 0; j < columns; ++j)
      if (wanted(j)) store(j, sum(n, [&](int i, double sum) { return add(i, j, sum); }));
  }
  template <class Wanted, class Store>
  PLAQ_BY_TEAM int select(int n, Wanted&& wanted, Store&& store) {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (wanted(i)) store(count++, i);
    return count;
  }
  template <class F>
  PLAQ_BY_TEAM int largest(int n, F&& value) {
    int at = 0;
    double most = -HUGE_VAL;
    for (int i = 0; i < n; ++i)
      if (const double v = value(i); v > most) most = v, at = i;
    return at;
  }
};

#if defined(__CUDACC__) || defined(__HIPCC__)

/// Team of the threads of a GPU's block; their number is a multiple of `lanes`.
class device_team {
 public:
  template <class F>
  __device__ void each(int n, F&& f) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) f(i);
    __syncthreads();
  }
  template <class F>
  __device__ void grid(int rows, int columns, F&& f) {
    for (int j = threadIdx.x / lanes; j < columns; j += blockDim.x / lanes)
      for (int i = threadIdx.x % lanes; i < rows; i += lanes) f(i, j);
    __syncthreads();
  }
  template <class F>
  __device__ void once(F&& f) {
    if (threadIdx.x == 0) f();
    __syncthreads();
  }
  template <class F>
  __device__ auto value(F&& f) {
    const auto found = f();
    __syncthreads();
    return found;
  }
  // Every lane-wide group of threads computes the same sum: that is quicker than handing it round.
  template <class F>
  __device__ double sum(int n, F&& add) {
    const double found = in_lanes(n, add);
    __syncthreads();
    return found;
  }
  template <class F, class Store>
  __device__ void sums(int columns, int n, F&& add, Store&& store) {
    sums_where(columns, n, [](int) { return true; }, add, store);
  }
  template <class Wanted, class F, class Store>
  __device__ void sums_where(int columns, int n, Wanted&& wanted, F&& add, Store&& store) {
    for (int j = threadIdx.x / lanes; j < columns; j += blockDim.x / lanes) {
      if (!wanted(j)) continue;
      const double found = in_lanes(n, [&](int i, double sum) { return add(i, j, sum); });
      if (threadIdx.x % lanes == 0) store(j, found);
    }
    __syncthreads();
  }
  template <class Wanted, class Store>
  __device__ int select(int n, Wanted&& wanted, Store&& store) {
    const int lane = threadIdx.x % lanes;
    int count = 0;
    for (int first = 0; first < n; first += lanes) {
      const int i = first + lane;
      const bool mine = i < n && wanted(i);
      const unsigned found = which_lanes(mine);
      if (mine && threadIdx.x < lanes) store(count + __popc(found & ((1u << lane) - 1)), i);
      count += __popc(found);
    }
    __syncthreads();
    return count;
  }
  template <class F>
  __device__ int largest(int n, F&& value) {
    int at = threadIdx.x % lanes;
    double most = -HUGE_VAL;
    for (int i = at; i < n; i += lanes)
      if (const double v = value(i); v > most) most = v, at = i;
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
      const double other = from_lane_apart(most, apart);
      const int there = from_lane_apart(at, apart);
      if (other > most || (!(most > other) && there < at)) most = other, at = there;
    }
    __syncthreads();
    return at;
  }

 private:
  template <class T>
  static __device__ T from_lane_apart(T value, int apart) {
#if defined(__HIPCC__)
    return __shfl_xor(value, apart, lanes);
#else
    return __shfl_xor_sync(0xffffffffu, value, apart, lanes);
#endif
  }
  static __device__ unsigned which_lanes(bool wanted) {
#if defined(__HIPCC__)
    return unsigned(__ballot(wanted) >> (threadIdx.x / lanes * lanes % warpSize));
#else
    return __ballot_sync(0xffffffffu, wanted);
#endif
  }
  template <class F>
  static __device__ double in_lanes(int n, F&& add) {
    double part = 0;
    for (int i = threadIdx.x % lanes; i < n; i += lanes) part = add(i, part);
    for (int apart = lanes / 2; apart > 0; apart /= 2) part += from_lane_apart(part, apart);
    return part;
  }
};

#endif

}  // namespace plaq::gpu
