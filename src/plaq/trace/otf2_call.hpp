// Calls of the OTF2 library whose errors are exceptions.
#pragma once
#include <otf2/otf2.h>

#include <source_location>

static_assert(OTF2_VERSION_MAJOR >= 3);

namespace plaq::trace::otf2 {

/// OTF2 tells errors to a callback, one for the process, and prints them where there is none. Some it tells there
/// alone: a call that could not write all that was buffered returns OTF2_SUCCESS. While this object lives, `ok`
/// throws for those too.
class keeps_errors {
 public:
  keeps_errors();
  ~keeps_errors();
  keeps_errors(const keeps_errors&) = delete;
  keeps_errors& operator=(const keeps_errors&) = delete;

 private:
  OTF2_ErrorCallback before_;
};

/// Throws runtime_failure with OTF2's first message unless `code` is OTF2_SUCCESS and there was none.
void ok(OTF2_ErrorCode code, std::source_location where = std::source_location::current());

/// Throws runtime_failure with OTF2's first message where `pointer` is null.
template <class T>
T* made(T* pointer, std::source_location where = std::source_location::current()) {
  if (!pointer) ok(OTF2_ERROR_INVALID, where);
  return pointer;
}

}  // namespace plaq::trace::otf2
