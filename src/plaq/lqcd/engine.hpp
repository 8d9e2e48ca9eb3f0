// Who does the work: the workers of this rank, and messages to the others.
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

/// The workers of a rank. One of them needs no pool: who calls does the work.
class workers {
 public:
  using part = std::function<void(std::size_t begin, std::size_t end)>;

  virtual ~workers() = default;
  /// `work` on parts of [0, n), each index once; returns when all is done. What it throws comes out.
  virtual void each(task::task_name name, std::size_t n, const part& work) = 0;
  /// Runs `work` where each() need not wake anybody: from inside a task of the pool.
  virtual void inside(task::task_name name, const std::function<void()>& work) = 0;
  virtual int count() const = 0;
};

/// input_error for a back end that is not there.
std::unique_ptr<workers> make_workers(std::string_view backend, const task::options& how);

/// References that outlive it. Ranks are those of the lattice.
struct engine {
  workers& hands;
  comm::messenger& messages;
  comm::collectives& together;
};

}  // namespace plaq::lqcd
