// Workers of this rank, and its connections to the other ranks.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/name.hpp"
#include "plaq/task/options.hpp"

namespace plaq::lqcd {

/// Workers of a rank. A single worker is the calling thread, without a pool.
class workers {
 public:
  using range_function = std::function<void(std::size_t begin, std::size_t end)>;

  virtual ~workers() = default;
  /// Calls `work` on parts of [0, n), each index once, and returns when all have finished. Rethrows its exceptions.
  virtual void parallel_for(task::task_name name, std::size_t n, const range_function& work) = 0;
  /// Runs `work` as a task of the pool, from which parallel_for() starts its parts at the least cost.
  virtual void run(task::task_name name, const std::function<void()>& work) = 0;
  virtual int count() const = 0;
};

/// Makes the workers of a back end. input_error for one that is unknown or was not built.
std::unique_ptr<workers> make_workers(std::string_view backend, const task::options& options);

/// Workers and communication of a lattice's rank. References must outlive it.
struct context {
  lqcd::workers& workers;
  comm::messenger& messages;
  comm::collectives& collectives;
};

}  // namespace plaq::lqcd
