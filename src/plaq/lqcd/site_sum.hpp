// Sums over the sites of all ranks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/exact_sum.hpp"

namespace plaq::lqcd {

/// `work(first, end, sums)` on parts of [0, blocks), with so many exact sums; those of all parts and ranks, rounded.
/// Collective.
template <class Work>
std::vector<double> summed(engine& by, task::task_name name, int count, std::int64_t blocks, Work&& work) {
  std::mutex lock;
  std::vector<exact_sum> total(count);
  by.hands.each(name, std::size_t(blocks), [&](std::size_t first, std::size_t end) {
    std::vector<exact_sum> mine(count);
    work(first, end, mine);
    for (auto& sum : mine) sum.settle();
    std::lock_guard guard(lock);
    for (int i = 0; i < count; ++i) total[i].add(mine[i]);
  });
  std::vector<std::int64_t> limbs;
  for (auto& sum : total) {
    sum.settle();
    limbs.insert(limbs.end(), sum.limbs().begin(), sum.limbs().end());
  }
  if (by.together.size() > 1) by.together.all_reduce(limbs, comm::operation::sum);
  std::vector<double> values(count);
  for (int i = 0; i < count; ++i) {
    const auto here = total[i].limbs();
    std::copy_n(limbs.begin() + std::ptrdiff_t(i * here.size()), here.size(), here.begin());
    values[i] = total[i].value();
  }
  return values;
}

}  // namespace plaq::lqcd
