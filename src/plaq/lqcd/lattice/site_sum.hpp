// Sums over the sites of all ranks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/exact_sum.hpp"

namespace plaq::lqcd {

/// Calls work(first, end, sums) on parts of [0, groups), each with `count` exact sums. Returns the rounded sums over
/// all parts and ranks. Collective.
template <class Work>
std::vector<double> sum_over_sites(context& ctx, task::task_name name, int count, std::int64_t groups, Work&& work) {
  std::mutex lock;
  std::vector<exact_sum> total(count);
  ctx.workers.parallel_for(name, std::size_t(groups), [&](std::size_t first, std::size_t end) {
    std::vector<exact_sum> partial(count);
    work(first, end, partial);
    for (auto& sum : partial) sum.settle();
    std::lock_guard guard(lock);
    for (int i = 0; i < count; ++i) total[i].add(partial[i]);
  });
  std::vector<std::int64_t> limbs;
  for (auto& sum : total) {
    sum.settle();
    limbs.insert(limbs.end(), sum.limbs().begin(), sum.limbs().end());
  }
  if (ctx.collectives.size() > 1) ctx.collectives.all_reduce(limbs, comm::operation::sum);
  std::vector<double> values(count);
  for (int i = 0; i < count; ++i) {
    const auto total_limbs = total[i].limbs();
    std::copy_n(limbs.begin() + std::ptrdiff_t(i * total_limbs.size()), total_limbs.size(), total_limbs.begin());
    values[i] = total[i].value();
  }
  return values;
}

}  // namespace plaq::lqcd
