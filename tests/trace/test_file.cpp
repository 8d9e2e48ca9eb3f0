// A rank's file, as rank_file.hpp reads it; and what becomes of it where it cannot be written.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/trace/file.hpp"
#include "rank_file.hpp"

namespace plaq::trace::detail {
namespace {

struct File : with_folder {
  void SetUp() override {
    with_folder::SetUp();
    path = folder / "rank";
  }
  std::filesystem::path path;
};

TEST_F(File, HasAHeadAndBlocks) {
  std::vector<block_found> expected;
  {
    file f(path);
    EXPECT_EQ(head_of(path), std::pair(std::string("open"), std::string("0")));
    for (std::size_t size = 0; size <= 17; ++size) {
      expected.push_back({block::names, 100 + size, 0, std::string(size, char('a' + size))});
      EXPECT_TRUE(f.add(block::names, expected.back().body, 100 + size));
    }
    std::string left = "in ", right = "pieces";
    EXPECT_TRUE(
        f.add(block::events, {{left.data(), left.size()}, {right.data(), 0}, {right.data(), right.size()}}, 7, 8));
    expected.push_back({block::events, 7, 8, "in pieces"});
    const std::vector<double> values{1.5, -2};
    EXPECT_TRUE(f.add_values(block::offset, values));
    expected.push_back({block::offset, 0, 0, std::string(reinterpret_cast<const char*>(values.data()), 16)});
    EXPECT_EQ(f.problem(), "");
    f.set_state("closed");
  }
  EXPECT_EQ(blocks_of(path), expected);
  EXPECT_EQ(head_of(path), std::pair(std::string("closed"), std::to_string(bytes_of(path).size())));
}

// Blocks of any size in any number of pieces, of which some are empty.
TEST_F(File, JoinsThePiecesOfABlock) {
  std::mt19937 random(11);
  std::vector<block_found> expected;
  {
    file f(path);
    for (int n = 0; n < 60; ++n) {
      std::vector<std::string> parts(random() % 9);
      std::vector<iovec> pieces;
      block_found whole{block(1 + random() % 10), random(), random(), ""};
      for (std::string& part : parts) {
        part.assign(random() % 3 ? random() % 300 : 0, char(random()));
        pieces.push_back({part.data(), part.size()});
        whole.body += part;
      }
      ASSERT_TRUE(f.add(whole.kind, pieces, whole.thread, whole.lost));
      expected.push_back(whole);
    }
  }
  EXPECT_EQ(blocks_of(path), expected);
  EXPECT_EQ(head_of(path).first, "open") << "its end is not recorded";
}

TEST_F(File, HasAHeadOfOneSizeWhateverItSays) {
  file f(path);
  f.add(block::names, "[]");
  f.set_state("cut: " + std::string(1000, 'x'));
  EXPECT_EQ(head_of(path), std::pair("cut: " + std::string(251, 'x'), std::to_string(512 + 40 + 8)));
  EXPECT_EQ(blocks_of(path), (std::vector<block_found>{{block::names, 0, 0, "[]"}}));
  f.set_state("closed");
  EXPECT_EQ(head_of(path).first, "closed") << "and nothing is left of the longer one";
  EXPECT_TRUE(f.add(block::names, "[]")) << "the head is not overwritten";
  EXPECT_EQ(blocks_of(path).size(), 2u);
}

TEST_F(File, IsNeverWrittenOverAnother) {
  std::ofstream(path) << "another's";
  EXPECT_THROW(file{path}, input_error);
  EXPECT_EQ(bytes_of(path), "another's");
}

TEST_F(File, ThatCannotBeMadeSaysWhy) {
  try {
    file f(folder / "missing" / "rank");
    FAIL();
  } catch (const runtime_failure& error) {
    EXPECT_NE(std::string(error.what()).find("missing/rank: cannot be written: No such file"), std::string::npos);
  }
}

TEST_F(File, ThatWasRemovedIsNotFilledFurther) {
  file f(path);
  EXPECT_TRUE(f.add(block::names, "[]"));
  std::filesystem::remove(path);
  EXPECT_FALSE(f.add(block::names, "[]"));
  EXPECT_EQ(f.problem(), "its file was removed");
  EXPECT_FALSE(f.add(block::names, "[]"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(File, EndsWithItsLastWholeBlockWhereThereIsNoRoom) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    file f(path);
    EXPECT_TRUE(f.add(block::names, "[\"kept\"]"));
    rlimit small = before;
    small.rlim_cur = 1000;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool added = f.add(block::names, std::string(4000, 'x'));
    const bool again = f.add(block::names, "[]");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_FALSE(added);
    EXPECT_FALSE(again);
    EXPECT_EQ(f.problem(), "File too large");
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(blocks_of(path), (std::vector<block_found>{{block::names, 0, 0, "[\"kept\"]"}}));
  EXPECT_EQ(head_of(path), std::pair(std::string("cut: File too large"), std::to_string(bytes_of(path).size())));
}

}  // namespace
}  // namespace plaq::trace::detail
