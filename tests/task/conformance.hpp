// The suite that every thread back end passes: typed tests over all back ends of this build.
#pragma once
#include <gtest/gtest.h>

#include "plaq/task/task.hpp"

namespace plaq::task {

template <class B>
struct Conformance : testing::Test {
  using pool_t = typename B::pool;
};

struct backend_names {
  template <class B>
  static std::string GetName(int) {
    return std::string(B::name());
  }
};

template <class List>
struct typed;
template <class... B>
struct typed<std::tuple<B...>> {
  using types = testing::Types<B...>;
};
using every_backend = typed<known_backends>::types;

/// A value that can be moved so many times; the next one throws.
struct fragile {
  explicit fragile(int moves) : left(moves) {}
  fragile(fragile&& other) : left(other.left - 1) {
    if (left < 0) throw runtime_failure("broken on the way");
  }
  int left;
};

/// How many times to repeat, less under a sanitizer, where everything takes long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int less = 10;
#else
inline constexpr int less = 1;
#endif

}  // namespace plaq::task
