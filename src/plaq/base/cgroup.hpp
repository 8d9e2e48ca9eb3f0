// Control groups of this process: the limits of containers and batch systems.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

namespace plaq {

/// Calls visit(folder, version) for the folder of this process' group and all above it, of version 2 and, if
/// `controller` has a hierarchy of its own, of version 1. `root` is "/" except in tests.
void for_each_cgroup(const std::filesystem::path& root, std::string_view controller,
                     const std::function<void(const std::filesystem::path& folder, int version)>& visit);

}  // namespace plaq
