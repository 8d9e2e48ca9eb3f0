// Compiled where cupti.h is found: the declarations of cupti.hpp against NVIDIA's, oldest and newest records.
#include <cupti.h>

#include <cstddef>
#include <type_traits>

#include "plaq/trace/cupti.hpp"

namespace {

using namespace plaq::trace::detail;

#define SAME_PLACE(theirs, their_field, ours, our_field)                             \
  static_assert(offsetof(theirs, their_field) == offsetof(cupti::ours, our_field) && \
                sizeof(theirs::their_field) == sizeof(cupti::ours::our_field))

#define SAME_KERNEL(theirs)                                        \
  SAME_PLACE(theirs, kind, kernel_activity, kind);                 \
  SAME_PLACE(theirs, start, kernel_activity, start);               \
  SAME_PLACE(theirs, end, kernel_activity, end);                   \
  SAME_PLACE(theirs, deviceId, kernel_activity, device);           \
  SAME_PLACE(theirs, contextId, kernel_activity, context);         \
  SAME_PLACE(theirs, streamId, kernel_activity, stream);           \
  SAME_PLACE(theirs, correlationId, kernel_activity, correlation); \
  SAME_PLACE(theirs, name, kernel_activity, name);                 \
  static_assert(sizeof(theirs) >= sizeof(cupti::kernel_activity))

#define SAME_TRANSFER(theirs, ours)                     \
  SAME_PLACE(theirs, kind, ours, kind);                 \
  SAME_PLACE(theirs, bytes, ours, bytes);               \
  SAME_PLACE(theirs, start, ours, start);               \
  SAME_PLACE(theirs, end, ours, end);                   \
  SAME_PLACE(theirs, deviceId, ours, device);           \
  SAME_PLACE(theirs, contextId, ours, context);         \
  SAME_PLACE(theirs, streamId, ours, stream);           \
  SAME_PLACE(theirs, correlationId, ours, correlation); \
  static_assert(sizeof(theirs) >= sizeof(cupti::ours))

SAME_KERNEL(CUpti_ActivityKernel4);
SAME_TRANSFER(CUpti_ActivityMemcpy, memcpy_activity);
SAME_TRANSFER(CUpti_ActivityMemset, memset_activity);
#if CUPTI_API_VERSION >= 130500
SAME_KERNEL(CUpti_ActivityKernel13);
SAME_TRANSFER(CUpti_ActivityMemcpy7, memcpy_activity);
SAME_TRANSFER(CUpti_ActivityMemset5, memset_activity);
#elif CUPTI_API_VERSION >= 24
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_TRANSFER(CUpti_ActivityMemcpy6, memcpy_activity);
SAME_TRANSFER(CUpti_ActivityMemset4, memset_activity);
#endif
SAME_PLACE(CUpti_ActivityMemcpy, copyKind, memcpy_activity, copy);

SAME_PLACE(CUpti_Activity, kind, activity, kind);
SAME_PLACE(CUpti_ActivityExternalCorrelation, externalKind, external_correlation_activity, external_kind);
SAME_PLACE(CUpti_ActivityExternalCorrelation, externalId, external_correlation_activity, external);
SAME_PLACE(CUpti_ActivityExternalCorrelation, correlationId, external_correlation_activity, correlation);

static_assert(int(CUPTI_SUCCESS) == cupti::success);
static_assert(int(CUPTI_ERROR_MAX_LIMIT_REACHED) == cupti::max_limit_reached);
static_assert(int(CUPTI_ACTIVITY_KIND_MEMCPY) == cupti::kind_memcpy);
static_assert(int(CUPTI_ACTIVITY_KIND_MEMSET) == cupti::kind_memset);
static_assert(int(CUPTI_ACTIVITY_KIND_DRIVER) == cupti::kind_driver);
static_assert(int(CUPTI_ACTIVITY_KIND_RUNTIME) == cupti::kind_runtime);
static_assert(int(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == cupti::kind_concurrent_kernel);
static_assert(int(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) == cupti::kind_external_correlation);
static_assert(int(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) == cupti::external_kind_custom0);
static_assert(int(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == int(cupti::flush_forced));
static_assert(int(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) == cupti::host_to_device);
static_assert(int(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) == cupti::device_to_host);
static_assert(int(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD) == cupti::device_to_device);
static_assert(int(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH) == cupti::host_to_host);
static_assert(int(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) == cupti::peer_to_peer);

// Functions are found by name: arguments as they are declared here, but for what the names of types say.
static_assert(std::is_same_v<decltype(&cuptiActivityFlushAll), CUptiResult (*)(std::uint32_t)>);
static_assert(std::is_same_v<decltype(&cuptiGetTimestamp), CUptiResult (*)(std::uint64_t*)>);
static_assert(std::is_same_v<decltype(&cuptiGetVersion), CUptiResult (*)(std::uint32_t*)>);
static_assert(std::is_same_v<decltype(&cuptiActivityEnable), CUptiResult (*)(CUpti_ActivityKind)>);
static_assert(std::is_same_v<decltype(&cuptiActivityDisable), CUptiResult (*)(CUpti_ActivityKind)>);
static_assert(std::is_same_v<decltype(&cuptiActivityPushExternalCorrelationId),
                             CUptiResult (*)(CUpti_ExternalCorrelationKind, std::uint64_t)>);
static_assert(std::is_same_v<decltype(&cuptiActivityPopExternalCorrelationId),
                             CUptiResult (*)(CUpti_ExternalCorrelationKind, std::uint64_t*)>);
static_assert(std::is_same_v<decltype(&cuptiActivityGetNextRecord),
                             CUptiResult (*)(std::uint8_t*, std::size_t, CUpti_Activity**)>);
static_assert(std::is_same_v<CUpti_BuffersCallbackRequestFunc, cupti::request_function>);
static_assert(std::is_same_v<CUpti_BuffersCallbackCompleteFunc,
                             void (*)(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t)>);

}  // namespace
