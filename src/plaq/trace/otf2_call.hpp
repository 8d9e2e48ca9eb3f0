// Calls of the OTF2 library whose errors are exceptions.
#pragma once
#include <otf2/otf2.h>

#include <source_location>

static_assert(OTF2_VERSION_MAJOR >= 3);

namespace plaq::trace::otf2 {

/// Scope that collects OTF2's errors. OTF2 reports errors to a callback, one for the process, and prints them without
/// one. Some are reported only there: a call that could not write all of its buffer returns OTF2_SUCCESS. While this
/// object lives, `ok` throws for those too.
class error_scope {
 public:
  error_scope();
  ~error_scope();
  error_scope(const error_scope&) = delete;
  error_scope& operator=(const error_scope&) = delete;

 private:
  OTF2_ErrorCallback before_;
};

/// Throws runtime_failure with OTF2's first message unless `code` is OTF2_SUCCESS and there was none.
void ok(OTF2_ErrorCode code, std::source_location where = std::source_location::current());

/// Throws runtime_failure with OTF2's first message if `pointer` is null.
template <class T>
T* made(T* pointer, std::source_location where = std::source_location::current()) {
  if (!pointer) ok(OTF2_ERROR_INVALID, where);
  return pointer;
}

}  // namespace plaq::trace::otf2
