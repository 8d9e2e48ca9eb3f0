#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plaq/base/cgroup.hpp"

namespace plaq {
namespace {

using seen = std::vector<std::pair<std::string, int>>;

/// What is looked at where /proc/self/cgroup has these lines.
seen looked_at(const std::string& lines, const std::string& controller) {
  const auto root = std::filesystem::temp_directory_path() / ("plaq_cgroup_" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc/self");
  std::ofstream(root / "proc/self/cgroup") << lines;
  seen out;
  for_each_cgroup(root, controller, [&](const std::filesystem::path& folder, int version) {
    out.emplace_back(folder.lexically_relative(root / "sys/fs/cgroup").string(), version);
  });
  std::filesystem::remove_all(root);
  return out;
}

TEST(Cgroup, LooksAtTheGroupAndAllAboveIt) {
  EXPECT_EQ(looked_at("0::/a/b\n", "cpu"), (seen{{"a/b", 2}, {"a", 2}, {".", 2}}));
  EXPECT_EQ(looked_at("0::/\n", "cpu"), (seen{{".", 2}}));
}

TEST(Cgroup, OfVersion1HasAHierarchyForEachController) {
  const std::string lines = "12:cpu,cpuacct:/x\n3:memory:/y/z\n1:name=systemd:/s\n";
  EXPECT_EQ(looked_at(lines, "memory"), (seen{{"memory/y/z", 1}, {"memory/y", 1}, {"memory", 1}}));
  EXPECT_EQ(looked_at(lines, "cpu"), (seen{{"cpu/x", 1}, {"cpu", 1}}));
  EXPECT_EQ(looked_at(lines, "cpuacct"), (seen{{"cpuacct/x", 1}, {"cpuacct", 1}}));
  EXPECT_EQ(looked_at(lines, "cpua"), seen{});  // a part of a name is no name
}

TEST(Cgroup, OfBothVersionsAreSeenInTheOrderOfTheFile) {
  EXPECT_EQ(looked_at("5:memory:/m\n0::/u\n", "memory"), (seen{{"memory/m", 1}, {"memory", 1}, {"u", 2}, {".", 2}}));
}

TEST(Cgroup, LinesThatSayNothingAreLeftOut) {
  EXPECT_EQ(looked_at("", "memory"), seen{});
  EXPECT_EQ(looked_at("nonsense\n3:memory\n\n0::/a:b\n", "memory"), (seen{{"a:b", 2}, {".", 2}}));
  seen none;
  for_each_cgroup("/no such root", "memory", [&](const std::filesystem::path& at, int v) { none.emplace_back(at, v); });
  EXPECT_EQ(none, seen{});
}

}  // namespace
}  // namespace plaq
