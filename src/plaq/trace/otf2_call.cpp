#include "plaq/trace/otf2_call.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::trace::otf2 {

namespace {

thread_local std::string first_error;

extern "C" OTF2_ErrorCode keep_error(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                                     const char* format, std::va_list arguments) {
  if (code == OTF2_WARNING || code == OTF2_DEPRECATED || !first_error.empty()) return code;
  char text[512] = "";
  std::vsnprintf(text, sizeof text, format, arguments);
  first_error = std::string(OTF2_Error_GetDescription(code)) + (*text ? ": " : "") + text;
  return code;
}

}  // namespace

error_scope::error_scope() : before_(OTF2_Error_RegisterCallback(keep_error, nullptr)) { first_error.clear(); }
error_scope::~error_scope() { OTF2_Error_RegisterCallback(before_, nullptr); }

void ok(OTF2_ErrorCode code, std::source_location where) {
  if (code == OTF2_SUCCESS && first_error.empty()) [[likely]]
    return;
  throw runtime_failure("OTF2: " + (first_error.empty() ? OTF2_Error_GetDescription(code) : first_error), where);
}

}  // namespace plaq::trace::otf2
