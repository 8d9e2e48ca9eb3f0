// A loop as tasks.
#pragma once
#include <algorithm>
#include <concepts>
#include <exception>
#include <vector>

#include "plaq/task/name.hpp"

namespace plaq::task {

/// Calls body(i) for every i in [begin, end) from at most 64 tasks called `name`, and waits for them. The cut does
/// not depend on the number of workers: piece p of P takes [begin + p n / P, begin + (p+1) n / P). If bodies
/// throw, the error of the first piece that has one comes out, after all pieces ended; the rest of a piece that
/// throws is not run.
template <class Pool, std::integral Index, class Body>
void parallel_for(Pool& pool, task_name name, Index begin, Index end, Body&& body) {
  if (end <= begin) return;
  const auto n = static_cast<std::size_t>(end - begin);
  const std::size_t pieces = std::min<std::size_t>(n, 64);
  const auto cut = [&](std::size_t p) {
    return static_cast<Index>(begin + static_cast<Index>(n / pieces * p + n % pieces * p / pieces));
  };
  std::vector<typename Pool::backend::template future<void>> running;
  running.reserve(pieces);
  for (std::size_t p = 0; p < pieces; ++p)
    running.push_back(pool.async(name, [&body, from = cut(p), to = cut(p + 1)] {
      for (Index i = from; i < to; ++i) body(i);
    }));
  for (auto& piece : running) piece.wait();
  for (auto& piece : running) piece.get();
}

}  // namespace plaq::task
