// What a pool is made with.
#pragma once
#include <cstddef>

namespace plaq::task {

struct options {
  int workers = 0;                       ///< tasks that run at the same time; 0: one per physical core
  std::size_t stack_size = 256 * 1024;   ///< bytes of stack per task, without its guard page (back end fiber)
};

}  // namespace plaq::task
