#include <gtest/gtest.h>

#include <string>

#include "plaq/base/error.hpp"

namespace plaq {
namespace {

std::string what(const auto& f) {
  try {
    f();
  } catch (const runtime_failure& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(Error, NamesThePlaceThatFailed) {
  const int line = __LINE__ + 1;
  const std::string said = what([] { throw runtime_failure("broken"); });
  EXPECT_TRUE(said.starts_with("broken [") && said.ends_with("test_error.cpp:" + std::to_string(line) + "]")) << said;
}

TEST(InputError, SaysWhatItWasGiven) {
  try {
    throw input_error("a.toml: beta = -1");
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "a.toml: beta = -1");
  }
}

// As if it stood elsewhere.
TEST(Check, NamesTheLineThatChecks) {
  EXPECT_EQ(what([] { check(true, "never seen"); }), "nothing thrown");
#line 12 "user.cpp"
  EXPECT_EQ(what([] { check(false, "no such thing"); }), "no such thing [user.cpp:12]");
}

TEST(Error, NamesPlaqsOwnFilesWithoutTheFolderOfTheBuild) {
#line 7 "/some/where/src/plaq/task/pool.cpp"
  EXPECT_EQ(what([] { throw runtime_failure("broken"); }), "broken [src/plaq/task/pool.cpp:7]");
}

}  // namespace
}  // namespace plaq
