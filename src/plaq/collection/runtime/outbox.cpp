#include "plaq/collection/runtime/outbox.hpp"

#include <mutex>
#include <utility>

namespace plaq::elements {

outbox::~outbox() {
  stop_polling();
  if (!buffers_.empty()) delivered(1);
}

void outbox::add(std::span<const std::byte> packed, int rank) {
  std::vector<std::byte> full;
  bool first = false, wake = false;
  {
    std::lock_guard lock(guard_);
    first = buffers_.empty();
    std::vector<std::byte>& to = buffers_[rank];
    comm::packing<std::uint64_t>::write(packed.size(), to);
    to.insert(to.end(), packed.begin(), packed.end());
    if (to.size() >= most_bytes) {
      full = std::move(to);
      buffers_.erase(rank);
    }
    // One event is expected while there is a buffer: a worker that is idle polls then.
    if (first && !buffers_.empty()) wake = expect(1);
    if (!first && buffers_.empty()) delivered(1);
  }
  if (wake) wake_pools();
  if (!full.empty()) send_(std::move(full), rank);
}

void outbox::flush() noexcept {
  std::map<int, std::vector<std::byte>> all;
  {
    std::lock_guard lock(guard_);
    if (buffers_.empty()) return;
    all.swap(buffers_);
    delivered(1);
  }
  for (auto& [rank, bundle] : all) send_(std::move(bundle), rank);
}

bool outbox::poll() noexcept {
  flush();
  return false;
}

}  // namespace plaq::elements
