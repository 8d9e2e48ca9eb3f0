// Runs a schedule: starts every step as soon as the steps before it allow, and never waits unless asked to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/comm/arithmetic.hpp"
#include "plaq/comm/schedule.hpp"
#include "plaq/comm/transport.hpp"

namespace plaq::comm {

/// What carries out single steps: real bytes below, or the clock of a simulated machine.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;
  /// Starts step `number`; true if it is complete already.
  virtual bool start(std::uint32_t number, const step& s) = 0;
  /// Appends the numbers of steps that are complete; with `wait`, at least one if any is under way.
  virtual void finished(std::vector<std::uint32_t>& numbers, bool wait) = 0;
};

/// One schedule on its way. Reusable: `begin` starts another.
class engine {
 public:
  /// Both must outlive the run.
  void begin(const schedule& todo, executor& by);
  /// Goes on as far as possible; true when all steps are complete. With `wait` it returns only then.
  bool progress(bool wait = false);
  bool done() const { return complete_ == steps_; }

 private:
  void start_ready();
  void mark_complete(std::uint32_t number);

  const schedule* todo_ = nullptr;
  executor* by_ = nullptr;
  std::size_t steps_ = 0, started_ = 0, complete_ = 0;
  std::vector<std::uint32_t> waits_for_, ready_, finished_;
};

/// Steps on real bytes: copies and combines here, messages through a set of messages, all with one tag.
class byte_executor final : public executor {
 public:
  struct buffers {
    const std::byte* input;
    std::byte* output;
    std::byte* scratch;
  };
  byte_executor(messages& through, int tag, const buffers& at, const combination& combine)
      : through_(through), tag_(tag), at_(at), combine_(combine) {}

  bool start(std::uint32_t number, const step& s) override;
  void finished(std::vector<std::uint32_t>& numbers, bool wait) override { through_.finished(numbers, wait); }

 private:
  const std::byte* read(region r) const;
  std::byte* write(region r) const;

  messages& through_;
  int tag_;
  buffers at_;
  const combination& combine_;
};

}  // namespace plaq::comm
