#include "plaq/base/cgroup.hpp"

#include <fstream>
#include <string>

namespace plaq {

namespace fs = std::filesystem;

void for_each_cgroup(const fs::path& root, std::string_view controller,
                     const std::function<void(const fs::path&, int)>& visit) {
  const auto upwards = [&](const fs::path& mount, const fs::path& group, int version) {
    for (fs::path at = group.relative_path(); !at.empty(); at = at.parent_path()) visit(mount / at, version);
    visit(mount, version);
  };
  std::ifstream groups(root / "proc/self/cgroup");  // lines "id:controllers:path", controllers empty for version 2
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const fs::path group = line.substr(second + 1), mount = root / "sys/fs/cgroup";
    if (controllers == ",,")
      upwards(mount, group, 2);
    else if (controllers.find(',' + std::string(controller) + ',') != std::string::npos)
      upwards(mount / controller, group, 1);
  }
}

}  // namespace plaq
