// Collective operations on their way over one wire, any number at once.
#pragma once
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/collectives/roll_call.hpp"
#include "plaq/comm/schedules/schedule.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/waiter.hpp"
#include "plaq/trace/label.hpp"

namespace plaq::comm {

/// Who waits for an operation moves it on; those that nobody waits for are moved by the pollers: idle workers, and
/// threads that wait for something else. Every operation has a tag of its own, so all ranks begin theirs in the
/// same order; one thread at a time begins them.
class operations final : public task::poller {
 public:
  struct operation_to_do {
    trace::label name;
    std::shared_ptr<const schedule> todo;
    std::span<const std::byte> input;
    std::span<std::byte> output;  ///< empty: of a barrier, whose byte nobody looks at
    combination combine;
    std::function<void()> at_end;  ///< of this rank; may be empty
    collective_call call;          ///< as all ranks make it
  };

  explicit operations(std::unique_ptr<wire> over);
  /// What is under way still ends with an error. MPI may give a message of it that nobody took to a later
  /// communicator: a job where this happened can only end.
  ~operations();

  int rank() const { return wire_->rank(); }
  int size() const { return wire_->size(); }
  /// Whether a buffer is memory of a device, which can be sent and copied, but not combined.
  bool on_device(std::span<const std::byte> buffer) const {
    return wire_->on_device({const_cast<std::byte*>(buffer.data()), buffer.size()});  // which is not even read
  }

  /// Returns when this rank's part is done.
  void run(operation_to_do what);
  /// Ready when this rank's part is done. The buffers belong to it until then.
  task::future<void> start(operation_to_do what);

  /// What has not ended, run() included, and whom it waits for. From any thread.
  std::string in_words() const;

  bool poll() noexcept override;

  /// From now on other ranks may ask which calls this one has made. `members`: ranks of the group in the world.
  void answer_for(std::uint64_t group, std::vector<int> members);
  std::uint64_t group() const { return group_; }
  call_record calls() const;
  /// A call that has not ended.
  struct open_call {
    std::uint64_t number;
    collective_call call;
    std::vector<int> awaited;  ///< ranks of the world
  };
  std::vector<open_call> open() const;

 private:
  struct flight;
  struct ended {
    std::unique_ptr<flight> which;
    std::exception_ptr error;
  };

  std::unique_ptr<flight> begin(operation_to_do&& what);
  void keep(std::unique_ptr<flight> done);
  void tell(std::vector<ended>& all) noexcept;

  mutable task::detail::spin_lock guard_;
  std::unique_ptr<wire> wire_;
  std::vector<std::unique_ptr<flight>> under_way_;  ///< that nobody waits for in run()
  const flight* in_run_ = nullptr;                  ///< that somebody does
  std::vector<std::unique_ptr<flight>> spare_;      ///< their memory is there for the next
  int generation_ = 0;
  call_record calls_;
  std::uint64_t group_ = 0;
  std::vector<int> members_;
};

}  // namespace plaq::comm
