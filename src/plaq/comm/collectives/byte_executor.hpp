// Executor of the steps of a schedule on real bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/schedules/schedule_runner.hpp"
#include "plaq/comm/wire/open_messages.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Executor that combines values, and copies and sends bytes by a wire with one tag. Errors: runtime_failure with rank,
/// step and peer.
class byte_executor final : public executor {
 public:
  struct buffers {
    const std::byte* input;
    std::byte* output;
    std::byte* scratch;
  };
  explicit byte_executor(wire& over) : wire_(over) {}
  /// Cancels receives in progress; sends cannot be cancelled.
  ~byte_executor() override;

  /// Begins an operation, which `combine` outlives.
  void begin(int tag, const buffers& at, const combination& combine);
  bool start(std::uint32_t number, const step& s) override;
  void finished(std::vector<std::uint32_t>& numbers) override;
  /// Peers of the messages in progress.
  open_messages open() const;

 private:
  /// Message or copy in progress.
  struct message {
    std::uint32_t number;
    const step* what;
    std::uint32_t in_order;  ///< of a receive: its number among those from the peer
  };
  std::byte* at(location r) const;
  bool is_sent(wire::handle& handle);
  [[noreturn]] void fail(const step& s, const std::string& why) const;

  wire& wire_;
  int tag_ = 0;
  std::map<int, std::uint32_t> sent_, expected_;  // messages of the operation by peer, while a session records
  buffers at_{};
  const combination* combine_ = nullptr;
  std::vector<wire::handle> handles_;  // of messages_, in the same order
  std::vector<message> messages_;
  std::vector<wire::end> ends_;
};

}  // namespace plaq::comm
