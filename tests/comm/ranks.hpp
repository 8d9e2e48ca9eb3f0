// What the suites on ranks share.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/backends.hpp"

namespace plaq::comm::test {

inline const communicator& world() {
  static const communicator w = comm::world();
  return w;
}
/// Cuts everything longer than 100 bytes, as buffers beyond 2 GiB are cut in earnest.
inline const communicator& in_small_pieces() {
  static const communicator w = comm::world({.longest_message = 100});
  return w;
}
/// Returns when all ranks are here.
inline void meet() {
  static collectives all(world());
  all.barrier();
}

/// Calls body(pool) on every back end, on pools of one and two workers; of one where many ranks share each core.
template <class Body>
void on_every_pool(Body&& body) {
  const int most = world().size() > 4 ? 1 : 2;
  for (const auto& backend : task::backends())
    for (int workers = 1; workers <= most; ++workers)
      task::with_backend(backend, {.workers = workers}, [&](auto& pool) { body(pool); });
}

/// Random numbers of very different size, so that every order of summation rounds differently.
inline std::vector<double> numbers(int seed, std::size_t n) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (auto& v : x) v = normal(random) * std::exp(4 * normal(random));
  return x;
}

template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Exception& e) {
    return e.what();
  }
  ADD_FAILURE() << "no exception";
  return "";
}

}  // namespace plaq::comm::test
