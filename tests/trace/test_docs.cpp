// The example of docs/trace.md, as it stands there; test_docs.py compares the two.
#include <gtest/gtest.h>

#include "plaq/task/task.hpp"
#include "plaq/trace/counters.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"

using namespace plaq;

TEST(Docs, TheExampleRuns) {
  char name[] = "/tmp/plaq_trace_XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  {
    // begin
    trace::session session({.folder = folder});  // from here to the end of its life
    trace::counter rows("rows", "1");
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      task::parallel_for(pool, "block of rows", 0, 100, [&](int) {  // tasks are recorded by themselves
        trace::region part("one row");
        rows.add(1);
      });
    });
    // end
    EXPECT_EQ(trace::read_counter("rows"), 100);
    session.close();
    EXPECT_EQ(session.problem(), "");
  }
  EXPECT_GT(std::filesystem::file_size(folder / "rank-0000.plaqtrace"), 100 * 48);
  std::filesystem::remove_all(folder);
}
