// Outbox: messages of elements to other ranks, several in one message of the communicator.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "plaq/comm/messages/packing.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Buffers of messages by destination. A buffer is sent when it holds `most_bytes`. All are sent where flush() is
/// called, and where pools poll: by an idle worker, and by busy ones every few milliseconds. Any thread may call.
class outbox final : task::poller {
 public:
  static constexpr std::size_t most_bytes = 4000;  ///< with a header, an eager message of usual MPIs
  /// Sends a bundle. Does not throw.
  using send = std::function<void(std::vector<std::byte> bundle, int rank)>;

  explicit outbox(send by) : send_(std::move(by)) { start_polling(); }
  ~outbox();

  /// Appends a packed message to the buffer of a rank.
  void add(std::span<const std::byte> packed, int rank);
  /// Sends all buffers.
  void flush() noexcept;

 private:
  bool poll() noexcept override;

  const send send_;
  task::detail::spin_lock guard_;
  std::map<int, std::vector<std::byte>> buffers_;  ///< that are not empty
};

/// Calls use(packed message) for each message of a bundle.
template <class Use>
void for_each_message(std::span<const std::byte> bundle, Use use) {
  for (comm::unpacker from(bundle); from.left() > 0;)
    use(from.next(std::size_t(comm::packing<std::uint64_t>::read(from))));
}

}  // namespace plaq::elements
