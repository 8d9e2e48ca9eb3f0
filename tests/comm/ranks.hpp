// What the suites on ranks share.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"

namespace plaq::comm::test {

inline const communicator& world() {
  static const communicator w = comm::world();
  return w;
}
/// Cuts everything longer than 100 bytes, as buffers beyond 2 GiB are cut in earnest.
inline const communicator& in_small_pieces() {
  static const communicator w = comm::world(100);
  return w;
}
/// Returns when all ranks are here.
inline void meet() {
  static collectives all(world());
  all.barrier();
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
