// Carries out the steps of a schedule on real bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/schedules/engine.hpp"
#include "plaq/comm/wire/open_messages.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Combines here, copies and sends by a wire, all with one tag. Errors: runtime_failure
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
  std::byte* at(location r) const;
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
