// Team of threads of the host: with serial_team of team.hpp, the teams of the tests on any machine.
#pragma once
#include <barrier>
#include <thread>
#include <vector>

#include "plaq/gpu/team.hpp"

namespace plaq::gpu {

/// One of several threads with a barrier: a missing wait in a kernel is a race that a sanitizer detects.
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
    sums_where(columns, n, [](int) { return true; }, add, store);
  }
  template <class Wanted, class F, class Store>
  void sums_where(int columns, int n, Wanted&& wanted, F&& add, Store&& store) {
    for (int j = me_; j < columns; j += threads_)
      if (wanted(j)) store(j, alone_.sum(n, [&](int i, double sum) { return add(i, j, sum); }));
    all_.arrive_and_wait();
  }
  template <class Wanted, class Store>
  int select(int n, Wanted&& wanted, Store&& store) {
    return value([&] {
      return alone_.select(n, wanted, [&](int position, int i) {
        if (me_ == 0) store(position, i);
      });
    });
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
