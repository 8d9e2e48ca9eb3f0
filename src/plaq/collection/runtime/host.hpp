// Host of a collection: its elements on one rank, whatever their type.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "plaq/collection/collection_group.hpp"
#include "plaq/collection/runtime/directory.hpp"
#include "plaq/collection/runtime/element.hpp"
#include "plaq/collection/runtime/failure.hpp"
#include "plaq/collection/runtime/outbox.hpp"
#include "plaq/collection/runtime/peer_protocol.hpp"
#include "plaq/collection/runtime/reductions.hpp"
#include "plaq/collection/runtime/scheduler.hpp"
#include "plaq/collection/runtime/step_window.hpp"
#include "plaq/collection/runtime/termination.hpp"

namespace plaq::elements {

/// Elements of a rank: a directory, a scheduler, reductions, peer protocols and termination detection, joined by active
/// messages. The calls of collection.hpp are made of these. Collective: constructor, issue, reduce, wait; one thread at
/// a time makes them. After a failure, of whichever rank, all of them throw it.
class host {
 public:
  host(element_type type, carrier by);
  ~host();
  host(const host&) = delete;

  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }
  const element_type& type() const { return type_; }

  /// Adds an element that begins with the next step. Other elements send to it through its home, so it is there, or was
  /// moved before.
  void add(std::unique_ptr<element> fresh);
  /// Adds an element at its home, to begin with step `next`. @pre The collection is not fixed (input_error).
  void insert(std::unique_ptr<element> fresh, step_number next);
  void issue(std::unique_ptr<step> next);
  void reduce(reductions::request what);
  /// Returns when every element of every rank has done all steps and no message is in progress.
  void wait();

  /// Calls use(element) for the elements of this rank, in the order of keys. @pre Called between wait() and the next
  /// step.
  void for_each(const std::function<void(element&)>& use);
  /// Releases the elements that a reduction holds; those of `moves` move to their ranks.
  void release(const std::vector<std::pair<key, int>>& moves);
  /// Runs this rank's part of a balancing protocol. Collective, from take_own of a reduction that holds elements;
  /// over() or fail() is called at the end.
  void balance(step_number at, balance::participant self, balance::protocol by, peer_protocol::done over,
               std::function<void(std::exception_ptr)> fail);
  void send(std::unique_ptr<message> what, key to);

  /// Writes a checkpoint of all ranks. Collective. Throws runtime_failure.
  void save(const std::filesystem::path& folder);
  /// Reads a checkpoint of any number of ranks. Collective. Throws input_error where there is none or it is damaged.
  /// @pre The host has no elements.
  void restore(const std::filesystem::path& folder);

  /// Number of elements of all ranks: as of the last wait(), unless it is fixed.
  std::uint64_t total() const { return total_; }
  void set_total(std::uint64_t n) { total_ = n; }
  step_number steps() const { return scheduler_.issued(); }
  /// Sets how many steps elements run ahead of each other, as step_window.
  void set_window(step_number most) { window_.set_most(most); }
  /// Adds the next handler, on all ranks in the same order.
  void add_handler(handler what) { scheduler_.add_handler(std::move(what)); }
  /// Sets the name of a port, for errors.
  void name_port(int port, std::string name) { scheduler_.name_port(port, std::move(name)); }
  /// Number of elements that have moved away from this rank.
  std::uint64_t moved() const { return moved_; }
  /// Number of messages that this rank has forwarded.
  std::uint64_t forwarded() const { return forwarded_; }
  /// Cost of moves from and to this rank so far, in seconds for each byte.
  double seconds_per_byte() const { return moved_bytes_ > 0 ? moving_seconds_ / moved_bytes_ : 0; }

 private:
  void on_messages();
  /// Sends a message that counts for termination.
  template <class V>
  void post(const V& what, int rank, int tag) {
    termination_.count_sent();
    messages_.send(what, rank, tag);
  }
  void post_element(const element& what, int rank);
  /// Calls do_it(), which counts as a task: at its end a rank that has no other sends what reductions have.
  template <class Do>
  void as_task(Do do_it) {
    termination_.begin_task();
    try {
      do_it();
    } catch (...) {
      termination_.end_task();
      throw;
    }
    termination_.end_task();
  }
  std::string where() const;

  void make_room();
  void issue_reduction(std::unique_ptr<step> next, reductions::request what);
  bool end_step(running_step& of);
  void deliver(std::unique_ptr<message> what, key to, std::int64_t moves, int origin);
  void receive_bundle(std::span<const std::byte> bytes, int sender);
  void receive_message(std::span<const std::byte> bytes, int sender);
  void receive_element(std::span<const std::byte> bytes);
  bool leave(running_step& of);
  void move(element& e, int rank);
  void remove(element& e);
  void arrive(std::unique_ptr<element> fresh);

  void describe(wave_counts& counts, bool unchanged);
  void report_failure(const std::string& why) noexcept;
  void fail(const std::string& why) noexcept;

  reductions::environment reduction_environment();
  termination::environment termination_environment();

  const element_type type_;
  const int thrown_before_;
  std::atomic<std::uint64_t> total_{0}, moved_{0}, forwarded_{0};
  std::atomic<std::uint64_t> at_home_{0};  ///< number of elements whose home is this rank, at the last wave
  std::atomic<double> moving_seconds_{0}, moved_bytes_{0};
  std::mutex parts_guard_;
  std::vector<part_checksum> parts_;  ///< on rank 0, of the checkpoint that is being written
  step_number waited_for_ = 0;        ///< steps that the driver knows as done

  failure_state failure_;
  step_window window_;
  directory directory_;
  termination termination_;
  scheduler scheduler_;
  reductions reductions_;
  peer_protocols protocols_;
  own_messages messages_;
  outbox outbox_;                                                 ///< of messages of elements
  std::stop_callback<std::function<void()>> on_message_failure_;  ///< destroyed first
};

}  // namespace plaq::elements
