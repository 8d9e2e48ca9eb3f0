// Wire whose messages may begin and end in GPU memory.
#pragma once
#include <memory>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Returns a wire over `below` whose buffers may be device memory, or `below` itself if the machine has no NVIDIA
/// driver. If `below_takes_device_memory`, messages are passed to it; otherwise they pass through pinned host memory,
/// where copy and message are both nonblocking, and messages of one tag to one rank keep their order. Copies within the
/// rank are done by the driver. Failures of the driver are runtime_failures, or errors of an end, with call and name.
std::unique_ptr<wire> with_device_memory(std::unique_ptr<wire> below, bool below_takes_device_memory);

}  // namespace plaq::comm
