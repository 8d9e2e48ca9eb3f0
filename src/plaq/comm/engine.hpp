// Runs a schedule: starts every step as soon as the steps before it allow, and never waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/comm/arithmetic.hpp"
#include "plaq/comm/open_messages.hpp"
#include "plaq/comm/schedule.hpp"
#include "plaq/comm/wire.hpp"

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
  /// Appends the numbers of steps that are complete.
  virtual void finished(std::vector<std::uint32_t>& numbers) = 0;
};

/// One schedule on its way. Reusable: `begin` starts another.
class engine {
 public:
  /// Both must outlive the run.
  void begin(const schedule& todo, executor& by);
  /// Goes on as far as possible; true when all steps are complete.
  bool progress();
  bool done() const { return complete_ == steps_; }

 private:
  void start_ready();
  void mark_complete(std::uint32_t number);

  const schedule* todo_ = nullptr;
  executor* by_ = nullptr;
  std::size_t steps_ = 0, started_ = 0, complete_ = 0;
  std::vector<std::uint32_t> waits_for_, ready_, finished_;
};

/// Steps on real bytes: combines here, copies and messages by a wire, all with one tag. Errors: runtime_failure
/// with rank, step and peer.
class byte_executor final : public executor {
 public:
  struct buffers {
    const std::byte* input;
    std::byte* output;
    std::byte* scratch;
  };
  explicit byte_executor(wire& over) : wire_(over) {}
  /// Gives up what is under way.
  ~byte_executor() override;

  /// From here on steps are of this operation; `combine` must outlive it.
  void begin(int tag, const buffers& at, const combination& combine);
  bool start(std::uint32_t number, const step& s) override;
  void finished(std::vector<std::uint32_t>& numbers) override;
  /// Whom the messages under way are from and to.
  open_messages open() const;

 private:
  struct message {  // or copy
    std::uint32_t number;
    const step* what;
  };
  std::byte* at(region r) const;
  bool has_gone(wire::handle& sent);
  [[noreturn]] void fail(const step& s, const std::string& why) const;

  wire& wire_;
  int tag_ = 0;
  buffers at_{};
  const combination* combine_ = nullptr;
  std::vector<wire::handle> handles_;  // what is under way, both in the same order
  std::vector<message> messages_;
  std::vector<wire::end> ends_;
};

}  // namespace plaq::comm
