#include "plaq/trace/label.hpp"

#include <mutex>
#include <string>
#include <unordered_set>

namespace plaq::trace {

std::string_view label::intern(std::string_view text) {
  static std::mutex lock;
  static auto& table = *new std::unordered_set<std::string>;  // outlives every thread
  std::lock_guard guard(lock);
  return *table.emplace(text).first;
}

}  // namespace plaq::trace
