// Memory of tasks: blocks are kept by threads, move between them, and come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "plaq/task/blocks.hpp"

namespace plaq::task::detail {
namespace {

/// Allocates blocks of many sizes, each filled with a byte of its own.
std::vector<std::pair<unsigned char*, std::size_t>> make_blocks(std::size_t count) {
  std::vector<std::pair<unsigned char*, std::size_t>> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bytes = 1 + i * 37 % 700;
    all.emplace_back(static_cast<unsigned char*>(allocate_block(bytes)), bytes);
    std::memset(all.back().first, int(i % 251), bytes);
  }
  return all;
}
void free_blocks(const std::vector<std::pair<unsigned char*, std::size_t>>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [at, bytes] = all[i];
    EXPECT_TRUE(std::all_of(at, at + bytes, [&](unsigned char c) { return c == i % 251; })) << i;
    free_block(at, bytes);
  }
}

TEST(Blocks, DoNotOverlapAndAreAligned) {
  const auto all = make_blocks(1000);
  for (const auto& [at, bytes] : all) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % alignof(std::max_align_t), 0u);
  free_blocks(all);
}

TEST(Blocks, AreFreedByOtherThreadsThanAllocateThem) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<unsigned char*, std::size_t>> first, second;
    std::thread([&] { first = make_blocks(400); }).join();
    std::thread([&] {
      second = make_blocks(300);
      free_blocks(first);
    }).join();
    free_blocks(second);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Blocks, AreUsedAgain) {
  std::set<void*> seen;
  for (int round = 0; round < 1000; ++round) {
    void* const at = allocate_block(100);
    seen.insert(at);
    free_block(at, 100);
  }
  EXPECT_EQ(seen.size(), 1u);
  for (int round = 0; round < 10; ++round) {  // one thread allocates, another frees
    std::vector<void*> all;
    for (int i = 0; i < 1000; ++i) seen.insert(all.emplace_back(allocate_block(100)));
    std::thread([&] {
      for (void* at : all) free_block(at, 100);
    }).join();
  }
  EXPECT_LT(seen.size(), 2000u);
}
#endif

struct alignas(128) wide : in_blocks {
  char bytes[256];
};
TEST(Blocks, KeepLargeAlignments) {
  for (int i = 0; i < 10; ++i) {
    const auto* at = new wide;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 128, 0u);
    delete at;
  }
}

}  // namespace
}  // namespace plaq::task::detail
