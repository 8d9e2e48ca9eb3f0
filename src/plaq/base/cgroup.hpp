// The control groups of this process: what containers and batch systems allow it.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

namespace plaq {

/// Calls look(folder, version) for the folder of this process' group and all above it, of version 2 and, where
/// `controller` has a hierarchy of its own, of version 1. `root` is "/" but for tests.
void for_each_cgroup(const std::filesystem::path& root, std::string_view controller,
                     const std::function<void(const std::filesystem::path& folder, int version)>& look);

}  // namespace plaq
