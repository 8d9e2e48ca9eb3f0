// Termination detection of a collection, by messages.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/comm/messages/four_counters.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Counters of a rank, and its part of the detection that nothing is in progress on any rank (comm::four_counters). A
/// rank delays a wave while tasks of its elements are in progress, and until it waits for the end or for a reduction.
class termination {
 public:
  /// Connections to the rest of a rank.
  struct environment {
    /// Called when no task of this rank is in progress, before it reports: sends what was kept back.
    std::function<void()> flush;
    /// Whether this rank waits for the result of a reduction.
    std::function<bool()> awaits_result;
    /// Adds the number of elements and steps to the counts; `unchanged` (nothing has happened since the previous wave)
    /// asks for what cannot proceed, too.
    std::function<void(wave_counts&, bool unchanged)> describe;
    std::function<void(const wave_counts&, int rank)> send_counts;
    std::function<void(const decision&, int rank)> send_decision;
    std::function<void(const std::string& why, int rank)> send_failure;
    /// Called at termination with the number of elements of all ranks.
    std::function<void(std::uint64_t elements)> terminated;
  };

  /// `name`: of the collection, for errors.
  termination(std::string name, int rank, int ranks, environment with);

  void begin_task() {
    ++open_;  // before begun_, so that a task that is counted as begun is open until it has ended
    ++begun_;
  }
  /// Ends a task. The last one of the rank flushes and reports; the rank may be destroyed once it has returned.
  void end_task() noexcept;
  void count_sent() { ++sent_; }
  void count_handled() { ++handled_; }

  /// Waits for termination, or for stop().
  void wait();
  /// Receives the counts of a child and all ranks below it.
  void receive(const wave_counts& of_child);
  /// Receives the decision on the wave.
  void receive(const decision& of);
  /// Ends all waits, after a failure.
  void stop();
  /// Returns when all tasks have ended.
  void join();

 private:
  void try_report();

  const std::string name_;
  const int rank_, ranks_;
  const environment with_;
  std::atomic<std::uint64_t> begun_{0};              ///< tasks of elements
  std::atomic<std::int64_t> open_{0};                ///< tasks that have not ended
  std::atomic<std::uint64_t> sent_{0}, handled_{0};  ///< messages between ranks
  std::atomic<bool> stopped_{false};

  task::mutex mutex_;  ///< of what follows
  task::condition_variable changed_;
  comm::four_counters<wave_counts> waves_;
  bool waits_ = false, terminated_ = false;
  std::uint64_t happened_ = 0;  ///< events on this rank at the previous wave
};

/// Error of a wave that found nothing in progress, or "" where all can proceed.
std::string deadlock_of(const wave_counts& all, const std::string& name);

}  // namespace plaq::elements
