#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "plaq/base/memory.hpp"

namespace plaq {
namespace {

/// A machine of 1000 kB, 400 of them available.
struct Memory : testing::Test {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("plaq_memory_" + std::to_string(getpid()));
  Memory() { write("proc/meminfo", "MemTotal:   1000 kB\nMemFree:     100 kB\nMemAvailable:   400 kB"); }
  ~Memory() override { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << '\n';
  }
  void expect(double available, double total) const {
    const memory found = memory_left(root);
    EXPECT_EQ(found.available, available);
    EXPECT_EQ(found.total, total);
  }
};

TEST_F(Memory, OfTheMachine) {
  expect(400 * 1024, 1000 * 1024);
  EXPECT_DOUBLE_EQ(memory_left(root).share_left(), 0.4);
  write("proc/self/cgroup", "0::/a");  // without a limit
  write("sys/fs/cgroup/a/memory.max", "max");
  write("sys/fs/cgroup/a/memory.current", "1000");
  expect(400 * 1024, 1000 * 1024);
}

TEST_F(Memory, OfTheTightestGroup) {
  write("proc/self/cgroup", "0::/a/b");
  write("sys/fs/cgroup/a/b/memory.max", "max");
  write("sys/fs/cgroup/a/b/memory.current", "80000");
  write("sys/fs/cgroup/a/memory.max", "100000");
  write("sys/fs/cgroup/a/memory.current", "90000");
  write("sys/fs/cgroup/a/memory.stat", "anon 60000\ninactive_file 20000\nactive_file 10000");
  expect(30000, 100000);  // of the group above, whose caches can go
  write("sys/fs/cgroup/a/b/memory.max", "81000");
  expect(1000, 81000);
}

TEST_F(Memory, OfAGroupOfVersionOne) {
  write("proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/job\n0::/");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "50000");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "40000");
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 5000");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");  // says: none
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "40000");
  expect(15000, 50000);
}

TEST_F(Memory, NothingIsKnownOfOtherKernels) {
  std::filesystem::remove(root / "proc/meminfo");
  expect(0, 0);
  EXPECT_EQ(memory_left(root).share_left(), 1);
}

TEST(MemoryHere, MakesSense) {
  const memory here = memory_left();
  EXPECT_GT(here.available, 0);
  EXPECT_GE(here.total, here.available);
}

}  // namespace
}  // namespace plaq
