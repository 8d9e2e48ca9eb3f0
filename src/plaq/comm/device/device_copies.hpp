// Nonblocking copies to, from and between GPUs.
#pragma once
#include <deque>
#include <vector>

#include "plaq/comm/device/cuda_driver.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Copies that begin in order and end with an event. One thread at a time calls, from any context. Failures are
/// runtime_failures with call and the driver's name of the error.
class device_copies {
 public:
  enum class direction { to_host, to_device, between };
  struct lane;
  /// Copy in progress.
  struct copy {
    lane* in = nullptr;
    cuda::event end = nullptr;
  };

  device_copies();
  /// Waits for copies in progress.
  ~device_copies();
  device_copies(const device_copies&) = delete;

  /// Begins a copy. `in`: a context of the device. @pre Both sides have the same number of bytes, at least one; host
  /// memory is pinned.
  copy begin(const blocks& from, const blocks& to, direction which, cuda::context in);
  /// Returns whether the copy has ended; true once, then it is dropped.
  bool done(copy& which);
  /// Waits in the driver, for a copy that is cancelled.
  void wait(copy& which) noexcept;

 private:
  lane& lane_of(direction which, cuda::context in);

  std::deque<lane> lanes_;
};

}  // namespace plaq::comm
