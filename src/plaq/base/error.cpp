#include "plaq/base/error.hpp"

#include <cstring>

namespace plaq {

namespace {
/// Message with the place of the check; a message of a rethrown error has one already.
std::string with_place(const std::string& message, const std::source_location& where) {
  if (message.ends_with("]") && message.find(" [src/plaq/") != std::string::npos) return message;
  const char* file = where.file_name();
  if (const char* inside = std::strstr(file, "src/plaq/")) file = inside;
  return message + " [" + file + ":" + std::to_string(where.line()) + "]";
}
}  // namespace

runtime_failure::runtime_failure(const std::string& message, std::source_location where)
    : std::runtime_error(with_place(message, where)) {}

}  // namespace plaq
