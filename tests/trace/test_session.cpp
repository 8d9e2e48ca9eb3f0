// What a program sees of a session; tests/trace/test_record.py looks into the files.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"
#include "rank_file.hpp"

namespace plaq::trace {

namespace {

struct Session : detail::with_folder {
  session_options at(const std::string& name) const {
    session_options o;
    o.folder = folder / name;
    o.period = std::chrono::milliseconds(5);
    return o;
  }
  static std::string state(const std::filesystem::path& path) { return detail::head_of(path).first; }
};

void all_events(std::uint64_t id) {
  created(id, 0, "name");
  started(id, 1);
  {
    region r("part");
    suspended(id);
    ready(id);
    resumed(id, 0);
  }
  finished(id);
  linked(id, id + 1);
}

}  // namespace

TEST_F(Session, RecordsFromItsFirstToItsLastLine) {
  EXPECT_FALSE(recording());
  {
    session s(at("a"));
    EXPECT_TRUE(recording());
    EXPECT_NE(region("seen").id(), 0u);
    EXPECT_EQ(state(s.path()), "open");
    EXPECT_EQ(s.path(), folder / "a" / "rank-0000.plaqtrace");
  }
  EXPECT_FALSE(recording());
  EXPECT_EQ(region("not seen").id(), 0u);
  EXPECT_EQ(state(folder / "a" / "rank-0000.plaqtrace"), "closed");
}

TEST_F(Session, OnlyOneAtATimeAndNeverOverAnother) {
  {
    session first(at("a"));
    EXPECT_THROW(session(at("b")), input_error);
    EXPECT_TRUE(recording());
  }
  EXPECT_THROW(session(at("a")), input_error);
  EXPECT_FALSE(recording());
  session again(at("b"));
  EXPECT_TRUE(recording());
}

TEST_F(Session, RefusesWhatItCannotDo) {
  auto o = at("a");
  o.rank = -1;
  EXPECT_THROW(session{o}, input_error);
  o = at("a");
  o.period = std::chrono::milliseconds(0);
  EXPECT_THROW(session{o}, input_error);
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(session(at("file")), runtime_failure);
}

TEST_F(Session, WritesWhatItIsToldAboutTheRun) {
  auto o = at("a");
  o.rank = 12;
  o.notes = {{"command", "plaq \"dca\""}, {"version", "0.1"}};
  std::string text;
  {
    session s(o);
    s.set_clock_offset(0.25, 1e-6);
    EXPECT_EQ(s.problem(), "");
    s.close();
    s.close();  // once more is no error
    EXPECT_EQ(s.path(), folder / "a" / "rank-0012.plaqtrace");
    text = detail::bytes_of(s.path());
  }
  EXPECT_NE(text.find(R"("rank":12,"pid":)" + std::to_string(getpid())), std::string::npos);
  EXPECT_NE(text.find(R"("notes":{"command":"plaq \"dca\"","version":"0.1"}})"), std::string::npos);
  const double offset[2] = {0.25, 1e-6};
  EXPECT_NE(text.find(std::string(reinterpret_cast<const char*>(offset), sizeof offset)), std::string::npos);
}

TEST_F(Session, SaysWhyItEndedEarlyAndTheProgramGoesOn) {
  session s(at("a"));
  std::filesystem::remove_all(folder / "a");
  while (s.problem().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(s.problem(), "its file was removed");
  while (recording()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  all_events(1);
  EXPECT_EQ(region("not seen").id(), 0u);
  s.close();
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

// Run under ThreadSanitizer, this is what the rings have to stand.
TEST_F(Session, ManyThreadsWhileSessionsComeAndGo) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> ids{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        std::jthread short_lived([&] { all_events(++ids); });
        for (int i = 0; i < 200; ++i) all_events(++ids);
      }
    });
  for (int i = 0; i < 10; ++i) {
    auto o = at(std::to_string(i));
    o.ring_bytes = i % 2 ? 1024 : std::size_t(1) << 20;  // those threads that come later have it
    session s(o);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  stop = true;
}

TEST_F(Session, AForkedChildLeavesTheFileAlone) {
  session s(at("a"));
  all_events(1);
  const pid_t child = fork();
  if (child == 0) {
    const bool silent = !recording() && region("child").id() == 0;
    s.close();
    _exit(silent ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(state(s.path()), "open");
  s.close();
  EXPECT_EQ(state(s.path()), "closed");
}

}  // namespace plaq::trace
