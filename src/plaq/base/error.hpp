// Errors that libraries throw. They neither print nor exit: the command line reports them to the user.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>

namespace plaq {

/// Failure of a run (exit code 1 of the command line). `what()` contains the place.
class runtime_failure : public std::runtime_error {
 public:
  explicit runtime_failure(const std::string& message, std::source_location where = std::source_location::current());
};

/// Invalid input of the caller (exit code 2 of the command line).
class input_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws runtime_failure with `message` unless `condition` holds. Kept in release builds.
inline void check(bool condition, const char* message, std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    throw runtime_failure(message, where);
}

}  // namespace plaq
