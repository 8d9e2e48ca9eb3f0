// Part of NVIDIA's CUPTI that is used; plaq builds without its headers. Records begin like this since CUDA 9, and newer
// versions append to it; tests/trace/cupti_layout.cpp compares with cupti.h if that is found.
#pragma once
#include <cstddef>
#include <cstdint>

namespace plaq::trace::detail::cupti {

enum result : int { success = 0, max_limit_reached = 12 };
enum activity_kind : int {
  kind_memcpy = 1,
  kind_memset = 2,
  kind_driver = 4,
  kind_runtime = 5,
  kind_concurrent_kernel = 10,
  kind_external_correlation = 39
};
enum copy_kind : std::uint8_t {
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 8,
  host_to_host = 9,
  peer_to_peer = 10
};
inline constexpr int external_kind_custom0 = 3;
inline constexpr std::uint32_t flush_forced = 1;

struct activity {
  std::int32_t kind;
};
struct kernel_activity {
  std::int32_t kind;
  std::uint32_t unused_a[3];
  std::uint64_t start, end, unused_b;
  std::uint32_t device, context, stream;
  std::uint32_t unused_c[10];
  std::uint32_t correlation;
  std::uint64_t unused_d;
  const char* name;
};
struct memcpy_activity {
  std::int32_t kind;
  copy_kind copy;
  std::uint8_t unused[3];
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};
struct memset_activity {
  std::int32_t kind;
  std::uint32_t value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};
struct external_correlation_activity {
  std::int32_t kind, external_kind;
  std::uint64_t external;
  std::uint32_t correlation, unused;
};

using request_function = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using complete_function = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                   std::size_t valid);

}  // namespace plaq::trace::detail::cupti
