// Copies to, from and between GPUs that nobody waits for.
#pragma once
#include <deque>
#include <vector>

#include "plaq/comm/device/cuda_driver.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Copies that begin in order and end when an event says so. One thread at a time calls, from any context.
/// Failures are runtime_failures with call and the driver's name of the error.
class device_copies {
 public:
  enum class way { to_host, to_device, between };
  struct lane;
  /// Under way; nothing else knows it.
  struct copy {
    lane* in = nullptr;
    cuda::event end = nullptr;
  };

  device_copies();
  /// Waits for those under way.
  ~device_copies();
  device_copies(const device_copies&) = delete;

  /// Both sides have the same number of bytes, at least one; `in` is a context of the device. Host memory is
  /// pinned.
  copy begin(const blocks& from, const blocks& to, way which, cuda::context in);
  /// True once; then it is forgotten.
  bool done(copy& which);
  /// Waits in the driver; for what is given up.
  void wait(copy& which) noexcept;

 private:
  lane& lane_of(way which, cuda::context in);

  std::deque<lane> lanes_;
};

}  // namespace plaq::comm
