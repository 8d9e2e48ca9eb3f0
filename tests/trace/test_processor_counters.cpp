// Counters of the calling thread, as far as the kernel gives them here.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "plaq/base/error.hpp"
#include "plaq/trace/processor_counters.hpp"

namespace plaq::trace::detail {

namespace {

/// Whether the kernel counts page faults here, which needs no hardware.
bool counts_faults() {
  try {
    demand_processor_counters({"page faults"});
    return true;
  } catch (const input_error&) {
    return false;
  }
}

/// Touches pages of their own.
void fault(std::size_t pages) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, pages * page);
}

struct ProcessorCounters : testing::Test {
  void TearDown() override { choose_processor_counters({}); }
};

std::string refusal(const std::vector<std::string>& names) {
  try {
    demand_processor_counters(names);
  } catch (const input_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_F(ProcessorCounters, RefusesWrongChoices) {
  EXPECT_NE(refusal({"flops"}).find("counters = 'flops': allowed are 'instructions', "), std::string::npos);
  EXPECT_NE(refusal({"page faults", "page faults"}).find("is given twice"), std::string::npos);
  EXPECT_NE(refusal({"instructions", "cycles", "cache misses", "page faults", "branch misses"}).find("at most 4"),
            std::string::npos);
  EXPECT_EQ(refusal({}), "");
}

TEST_F(ProcessorCounters, AreNoneUnlessChosen) { EXPECT_TRUE(read_processor_counters().values().empty()); }

TEST_F(ProcessorCounters, CountPageFaultsOfTheThread) {
  if (!counts_faults()) GTEST_SKIP() << refusal({"page faults"});
  choose_processor_counters({"processor time", "page faults"});
  const auto before = read_processor_counters();
  ASSERT_EQ(before.values().size(), 2u);
  fault(500);
  std::thread([] { fault(5000); }).join();  // another's do not count
  const auto after = read_processor_counters();
  const auto faults = after.values()[1] - before.values()[1];
  EXPECT_GE(faults, 500u);
  EXPECT_LT(faults, 5000u);
  EXPECT_GT(after.values()[0], before.values()[0]);
  choose_processor_counters({"page faults"});
  EXPECT_EQ(read_processor_counters().values().size(), 1u);
}

TEST_F(ProcessorCounters, CountInstructionsOrSayWhyNot) {
  const std::string why = refusal({"instructions", "cycles"});
  if (!why.empty()) {
    EXPECT_NE(why.find("counters = 'instructions': the kernel counts none here"), std::string::npos);
    return;
  }
  choose_processor_counters({"instructions", "cycles"});
  const auto before = read_processor_counters();
  volatile long sum = 0;
  for (long i = 0; i < 1'000'000; ++i) sum = sum + i;
  const auto after = read_processor_counters();
  const auto count = after.values()[0] - before.values()[0];
  EXPECT_GT(count, 3'000'000u);
  EXPECT_LT(count, 30'000'000u);
}

}  // namespace plaq::trace::detail
