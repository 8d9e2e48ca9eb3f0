// Collective operations in progress over one wire, any number at once.
#pragma once
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/collectives/call_registry.hpp"
#include "plaq/comm/collectives/group_layout.hpp"
#include "plaq/comm/schedules/schedule.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/waiter.hpp"
#include "plaq/trace/label.hpp"

namespace plaq::comm {

/// Operations in progress. A thread in run() progresses its operation; the others are progressed by pollers: idle
/// workers and waiting threads. Every operation has a tag of its own, so all ranks begin theirs in the same order; one
/// thread at a time begins them.
class operations final : public task::poller {
 public:
  /// Operation that is ready to begin.
  struct prepared_operation {
    trace::label name;
    std::shared_ptr<const schedule> todo;
    std::span<const std::byte> input;
    std::span<std::byte> output;  ///< empty: of a barrier, whose byte has no meaning
    combination combine;
    std::function<void()> at_end;  ///< of this rank; may be empty
    collective_call call;          ///< the same on all ranks
  };

  explicit operations(std::unique_ptr<wire> over);
  /// Fails operations in progress. MPI may deliver a message that was not received to a later communicator, so that the
  /// job can only end then.
  ~operations();

  int rank() const { return wire_->rank(); }
  int size() const { return wire_->size(); }
  /// Whether a buffer is device memory, which can be sent and copied, but not combined.
  bool on_device(std::span<const std::byte> buffer) const {
    return wire_->on_device({const_cast<std::byte*>(buffer.data()), buffer.size()});  // which is not even read
  }

  /// Runs an operation; returns when the part of this rank is done.
  void run(prepared_operation what);
  /// Starts an operation. The future is ready when the part of this rank is done; buffers belong to it until then.
  task::future<void> start(prepared_operation what);

  /// Operations that have not ended, run() included, and the ranks that they wait for. From any thread.
  std::string in_words() const;

  bool poll() noexcept override;

  /// Registers the calls of this rank, for queries of other ranks. @pre The layout has world ranks.
  void answer_for(std::uint64_t group, std::shared_ptr<const group_layout> layout);
  std::uint64_t group() const { return group_; }
  call_record calls() const;
  /// Call that has not ended.
  struct open_call {
    std::uint64_t number;
    collective_call call;
    std::vector<int> awaited;  ///< ranks of the world
  };
  std::vector<open_call> open() const;

 private:
  struct active_operation;
  struct ended {
    std::unique_ptr<active_operation> which;
    std::exception_ptr error;
  };

  std::unique_ptr<active_operation> begin(prepared_operation&& what);
  void keep(std::unique_ptr<active_operation> done);
  void complete(std::vector<ended>& all) noexcept;

  mutable task::detail::spin_lock guard_;
  std::unique_ptr<wire> wire_;
  std::vector<std::unique_ptr<active_operation>> active_;  ///< without run()
  const active_operation* in_run_ = nullptr;               ///< of run(), or null
  std::vector<std::unique_ptr<active_operation>> spare_;   ///< ended; their memory is reused
  int generation_ = 0;
  call_record calls_;
  std::uint64_t group_ = 0;
  std::shared_ptr<const group_layout> layout_;
};

}  // namespace plaq::comm
