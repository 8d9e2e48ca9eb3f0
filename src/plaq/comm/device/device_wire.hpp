// A wire whose messages may begin and end in the memory of GPUs.
#pragma once
#include <memory>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// `below` with buffers that may be device memory; `below` itself where the machine has no NVIDIA driver. Where
/// `below_takes_device_memory`, messages are left to it; else they pass through pinned host memory: copy and
/// message are both under way while nobody waits, and messages of one tag to one rank keep their order. Copies
/// within the rank are the driver's. Failures of the driver are runtime_failures, or errors of an end, with call
/// and name.
std::unique_ptr<wire> with_device_memory(std::unique_ptr<wire> below, bool below_takes_device_memory);

}  // namespace plaq::comm
