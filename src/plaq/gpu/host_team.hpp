// Teams of the host: kernels run on any machine, with the sums of a GPU in the same order, bit for bit.
#pragma once
#include <array>
#include <barrier>
#include <limits>
#include <thread>
#include <vector>

#include "plaq/gpu/team.hpp"

namespace plaq::gpu {

/// One thread alone.
class serial_team {
 public:
  template <class F>
  void each(int n, F&& f) {
    for (int i = 0; i < n; ++i) f(i);
  }
  template <class F>
  void grid(int rows, int columns, F&& f) {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) f(i, j);
  }
  template <class F>
  void once(F&& f) {
    f();
  }
  template <class F>
  auto value(F&& f) {
    return f();
  }
  template <class F>
  double sum(int n, F&& add) {
    std::array<double, lanes> part{};
    for (int first = 0; first < n; first += lanes)
      for (int l = 0; l < lanes && first + l < n; ++l) part[l] = add(first + l, part[l]);
    for (int apart = lanes / 2; apart > 0; apart /= 2)
      for (int l = 0; l < apart; ++l) part[l] += part[l + apart];
    return part[0];
  }
  template <class F, class Store>
  void sums(int columns, int n, F&& add, Store&& store) {
    for (int j = 0; j < columns; ++j) store(j, sum(n, [&](int i, double sum) { return add(i, j, sum); }));
  }
  template <class F>
  int largest(int n, F&& value) {
    int at = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < n; ++i)
      if (const double v = value(i); v > most) most = v, at = i;
    return at;
  }
};

/// One of several threads with a barrier: what a kernel forgets to wait for is a race that a sanitizer sees.
class thread_team {
 public:
  /// Runs kernel(team) on `threads` threads.
  template <class Kernel>
  static void run(int threads, Kernel&& kernel) {
    std::barrier<> all(threads);
    std::vector<std::jthread> others;
    for (int me = 0; me < threads; ++me)
      others.emplace_back([&, me] {
        thread_team team(me, threads, all);
        kernel(team);
      });
  }

  template <class F>
  void each(int n, F&& f) {
    for (int i = me_; i < n; i += threads_) f(i);
    all_.arrive_and_wait();
  }
  template <class F>
  void grid(int rows, int columns, F&& f) {
    for (int j = me_; j < columns; j += threads_)
      for (int i = 0; i < rows; ++i) f(i, j);
    all_.arrive_and_wait();
  }
  template <class F>
  void once(F&& f) {
    if (me_ == 0) f();
    all_.arrive_and_wait();
  }
  template <class F>
  auto value(F&& f) {
    const auto found = f();
    all_.arrive_and_wait();
    return found;
  }
  template <class F>
  double sum(int n, F&& add) {
    return value([&] { return alone_.sum(n, add); });
  }
  template <class F, class Store>
  void sums(int columns, int n, F&& add, Store&& store) {
    for (int j = me_; j < columns; j += threads_)
      store(j, alone_.sum(n, [&](int i, double sum) { return add(i, j, sum); }));
    all_.arrive_and_wait();
  }
  template <class F>
  int largest(int n, F&& of) {
    return value([&] { return alone_.largest(n, of); });
  }

 private:
  thread_team(int me, int threads, std::barrier<>& all) : me_(me), threads_(threads), all_(all) {}

  int me_, threads_;
  std::barrier<>& all_;
  serial_team alone_;
};

}  // namespace plaq::gpu
