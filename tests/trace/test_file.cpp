// A rank's file, read by a few lines of the test's own; and what becomes of it where it cannot be written.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "plaq/base/crc32.hpp"
#include "plaq/base/error.hpp"
#include "plaq/trace/file.hpp"

namespace plaq::trace::detail {
namespace {

struct File : testing::Test {
  void SetUp() override {
    char name[] = "/tmp/plaq_file_XXXXXX";
    folder = mkdtemp(name);
    path = folder / "rank";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The lines of the head: state, size.
  std::pair<std::string, std::string> head() const {
    std::ifstream in(path, std::ios::binary);
    std::string magic, state, size, check;
    std::getline(in, magic), std::getline(in, state), std::getline(in, size), std::getline(in, check);
    const std::string lines = magic + "\n" + state + "\n" + size + "\n";
    EXPECT_EQ(magic, "plaq trace 2");
    EXPECT_EQ(std::stoul(check, nullptr, 16), crc32(lines.data(), lines.size()));
    return {state, size};
  }

  struct found {
    std::uint32_t kind;
    std::uint64_t thread, lost;
    std::string body;
    bool operator==(const found&) const = default;
  };
  /// All blocks, whose checksums, numbers and padding have to be right.
  std::vector<found> blocks() const {
    const std::string all = bytes();
    std::vector<found> out;
    std::size_t at = 512;
    while (at < all.size()) {
      const auto number = [&](auto value, std::size_t offset) {
        std::memcpy(&value, &all.at(at + offset), sizeof value);
        return value;
      };
      const auto size = number(std::uint64_t(), 8);
      const std::size_t padded = (size + 7) / 8 * 8;
      EXPECT_LE(at + 40 + padded, all.size());
      EXPECT_EQ(number(std::uint32_t(), 0), crc32(&all[at + 4], 36));
      EXPECT_EQ(number(std::uint32_t(), 32), out.size());
      EXPECT_EQ(number(std::uint32_t(), 36), crc32(&all[at] + 40, padded));
      EXPECT_EQ(all.substr(at + 40 + size, padded - size), std::string(padded - size, '\0'));
      out.push_back({number(std::uint32_t(), 4), number(std::uint64_t(), 16), number(std::uint64_t(), 24),
                     all.substr(at + 40, size)});
      at += 40 + padded;
    }
    return out;
  }

  std::filesystem::path folder, path;
};

TEST_F(File, HasAHeadAndBlocks) {
  std::vector<found> expected;
  {
    file f(path);
    EXPECT_EQ(head(), std::pair(std::string("open"), std::string("0")));
    for (std::size_t size = 0; size <= 17; ++size) {
      expected.push_back({2, 100 + size, 0, std::string(size, char('a' + size))});
      EXPECT_TRUE(f.add(block::names, expected.back().body, 100 + size));
    }
    std::string left = "in ", right = "pieces";
    EXPECT_TRUE(f.add(block::events, {{left.data(), left.size()}, {right.data(), 0}, {right.data(), right.size()}}, 7, 8));
    expected.push_back({4, 7, 8, "in pieces"});
    const std::vector<double> values{1.5, -2};
    EXPECT_TRUE(f.add_values(block::offset, values));
    expected.push_back({8, 0, 0, std::string(reinterpret_cast<const char*>(values.data()), 16)});
    EXPECT_EQ(f.problem(), "");
    f.set_state("closed");
  }
  EXPECT_EQ(blocks(), expected);
  EXPECT_EQ(head(), std::pair(std::string("closed"), std::to_string(bytes().size())));
}

TEST_F(File, IsNeverWrittenOverAnother) {
  std::ofstream(path) << "somebody's";
  EXPECT_THROW(file{path}, input_error);
  EXPECT_EQ(bytes(), "somebody's");
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
  EXPECT_EQ(blocks(), (std::vector<found>{{2, 0, 0, "[\"kept\"]"}}));
  EXPECT_EQ(head(), std::pair(std::string("cut: File too large"), std::to_string(bytes().size())));
}

}  // namespace
}  // namespace plaq::trace::detail
