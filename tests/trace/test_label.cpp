#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "plaq/trace/label.hpp"

namespace plaq::trace {

TEST(Label, ALiteralIsNotCopied) {
  static constexpr const char text[] = "a literal";
  constexpr label same(text);
  EXPECT_EQ(same.view().data(), text);
  EXPECT_EQ(same.view(), "a literal");
  EXPECT_EQ(label("").view(), "");
}

TEST(Label, OtherTextIsKeptOnceAndForever) {
  std::string text = "walker 3, with a name too long for a short string";
  const label first(text);
  text[0] = 'W';
  EXPECT_EQ(first.view(), "walker 3, with a name too long for a short string");
  EXPECT_NE(label(text).view().data(), first.view().data());
  text[0] = 'w';
  EXPECT_EQ(label(text).view().data(), first.view().data());
  EXPECT_EQ(label(std::string_view(text)).view().data(), first.view().data());
}

TEST(Label, OneTextIsOneForAllThreads) {
  std::vector<std::vector<const char*>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : found)
      threads.emplace_back([&mine] {
        for (int i = 0; i < 500; ++i) mine.push_back(label("label of a thread " + std::to_string(i)).view().data());
      });
  }
  for (const auto& one : found) EXPECT_EQ(one, found[0]);
}

}  // namespace plaq::trace
