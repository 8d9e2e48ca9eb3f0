#include "plaq/base/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "plaq/base/cgroup.hpp"

namespace plaq {

namespace fs = std::filesystem;

namespace {

/// Number after `key` in a file of lines "key number", -1 without such a line.
double number_after(const fs::path& file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line, word; std::getline(lines, line);)
    if (line.starts_with(key + ' ')) return std::strtod(line.c_str() + key.size(), nullptr);
  return -1;
}

double number_in(const fs::path& file) {
  double number = -1;  // "max" leaves 0
  std::ifstream(file) >> number;
  return number;
}

}  // namespace

memory memory_left(const fs::path& root) {
  const fs::path machine = root / "proc/meminfo";
  memory least{1024 * number_after(machine, "MemAvailable:"), 1024 * number_after(machine, "MemTotal:")};
  if (least.available < 0 || least.total <= 0) least = {};
  for_each_cgroup(root, "memory", [&](const fs::path& folder, int version) {
    const bool two = version == 2;
    const double limit = number_in(folder / (two ? "memory.max" : "memory.limit_in_bytes"));
    const double used = number_in(folder / (two ? "memory.current" : "memory.usage_in_bytes"));
    if (limit <= 0 || used < 0 || (least.total > 0 && limit > least.total)) return;
    const char* idle = two ? "inactive_file" : "total_inactive_file";
    const double caches = std::max(0., number_after(folder / "memory.stat", idle));
    const double left = std::clamp(limit - used + caches, 0., limit);
    if (left / limit < least.share_left() || least.total == 0) least = {left, limit};
  });
  return least;
}

}  // namespace plaq
