// What the suites on ranks share.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "plaq/comm/communicator.hpp"

namespace plaq::comm {

inline const communicator& world() {
  static const communicator w = communicator::world();
  return w;
}
/// Cuts everything longer than 100 bytes, as buffers beyond 2 GiB are cut in earnest.
inline const communicator& in_small_pieces() {
  static const communicator w = communicator::world(100);
  return w;
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

}  // namespace plaq::comm
