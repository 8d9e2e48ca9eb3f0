// Sums over the sites of all ranks.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/exact_sum.hpp"

namespace plaq::lqcd {

/// `work(first, end, sums)` on parts of [0, blocks); the sums of all parts and ranks, rounded. Collective.
template <std::size_t Sums, class Work>
std::array<double, Sums> summed(engine& by, task::task_name name, std::int64_t blocks, Work&& work) {
  std::mutex lock;
  std::array<exact_sum, Sums> total;
  by.hands.each(name, std::size_t(blocks), [&](std::size_t first, std::size_t end) {
    std::array<exact_sum, Sums> mine;
    work(first, end, mine);
    for (auto& sum : mine) sum.settle();
    std::lock_guard guard(lock);
    for (std::size_t i = 0; i < Sums; ++i) total[i].add(mine[i]);
  });
  std::vector<std::int64_t> limbs;
  for (auto& sum : total) {
    sum.settle();
    limbs.insert(limbs.end(), sum.limbs().begin(), sum.limbs().end());
  }
  if (by.together.size() > 1) by.together.all_reduce(limbs, comm::operation::sum);
  std::array<double, Sums> values;
  for (std::size_t i = 0; i < Sums; ++i) {
    const auto here = total[i].limbs();
    std::copy_n(limbs.begin() + std::ptrdiff_t(i * here.size()), here.size(), here.begin());
    values[i] = total[i].value();
  }
  return values;
}

}  // namespace plaq::lqcd
