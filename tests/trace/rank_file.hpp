// A rank's file as these tests read it: its blocks, and what a session has put into them. Everything that a reader
// could check is checked on the way.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/crc32.hpp"
#include "plaq/trace/buffer.hpp"
#include "plaq/trace/file.hpp"

namespace plaq::trace::detail {

/// A folder of the test's own, gone after it.
struct with_folder : testing::Test {
  void SetUp() override {
    char name[] = "/tmp/plaq_trace_XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The lines of the head: state, size.
inline std::pair<std::string, std::string> head_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic, state, size, check;
  std::getline(in, magic), std::getline(in, state), std::getline(in, size), std::getline(in, check);
  const std::string lines = magic + "\n" + state + "\n" + size + "\n";
  EXPECT_EQ(magic, "plaq trace 2");
  EXPECT_EQ(std::stoul(check, nullptr, 16), crc32(lines.data(), lines.size()));
  return {state, size};
}

struct block_found {
  block kind;
  std::uint64_t thread, lost;
  std::string body;
  bool operator==(const block_found&) const = default;
};

/// All blocks, whose checksums, numbers and padding have to be right.
inline std::vector<block_found> blocks_of(const std::filesystem::path& path) {
  const std::string all = bytes_of(path);
  std::vector<block_found> out;
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
    out.push_back({block(number(std::uint32_t(), 4)), number(std::uint64_t(), 16), number(std::uint64_t(), 24),
                   all.substr(at + 40, size)});
    at += 40 + padded;
  }
  return out;
}

template <class T>
std::vector<T> values_of(const block_found& b) {
  EXPECT_EQ(b.body.size() % sizeof(T), 0u);
  std::vector<T> out(b.body.size() / sizeof(T));
  std::memcpy(out.data(), b.body.data(), out.size() * sizeof(T));
  return out;
}

/// A recording, with the halves of each event put together.
struct recorded {
  struct event_found {
    std::uint64_t thread;
    event kind;
    std::uint64_t time, subject;
    std::uint64_t number = 0, other = 0;  ///< of the second half: number of the name, parent or target or region
  };
  std::vector<event_found> events;              ///< those of one thread in their order
  std::map<std::uint64_t, std::uint64_t> lost;  ///< by thread
  std::map<std::uint64_t, std::string> threads;
  std::vector<std::string> names;  ///< JSON, as they stand in the file
  std::vector<std::string> series;
  std::vector<std::map<std::uint64_t, double>> samples;
  std::vector<clock_pair> clocks;

  explicit recorded(const std::filesystem::path& path) {
    for (const block_found& b : blocks_of(path)) read(b);
  }

  std::vector<event_found> of_thread(std::uint64_t thread) const {
    std::vector<event_found> out;
    for (const event_found& e : events)
      if (e.thread == thread) out.push_back(e);
    return out;
  }
  std::uint64_t all_lost() const {
    std::uint64_t sum = 0;
    for (const auto& [thread, count] : lost) sum += count;
    return sum;
  }
  /// The values of a series, one per sample in which it was read.
  std::vector<double> values(const std::string& words) const {
    std::vector<double> out;
    for (const auto& sample : samples)
      for (const auto& [number, value] : sample)
        if (series.at(number).find(words) != std::string::npos) out.push_back(value);
    return out;
  }

 private:
  void read(const block_found& b) {
    switch (b.kind) {
      case block::names: {  // ["...","..."], and no name of these tests has a comma in it
        std::string one;
        for (std::size_t i = 1; i < b.body.size(); ++i)
          if (b.body[i] == ',' || i + 1 == b.body.size())
            names.push_back(std::exchange(one, ""));
          else
            one += b.body[i];
        break;
      }
      case block::thread: EXPECT_TRUE(threads.emplace(b.thread, b.body).second) << "recorded once"; break;
      case block::events: read_events(b); break;
      case block::clocks:
        for (const clock_pair& c : values_of<clock_pair>(b)) clocks.push_back(c);
        break;
      case block::series: series.push_back(b.body); break;
      case block::samples: {
        const auto words = values_of<std::uint64_t>(b);
        samples.emplace_back();
        for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
          EXPECT_LT(words[i], series.size()) << "a series comes before its values";
          double value;
          std::memcpy(&value, &words[i + 1], sizeof value);
          samples.back()[words[i]] = value;
        }
        break;
      }
      default: break;
    }
  }
  void read_events(const block_found& b) {
    if (b.lost) lost[b.thread] = b.lost;
    for (const record& r : values_of<record>(b)) {
      const auto kind = event(r.head >> 56);
      if (kind != event::more) {
        EXPECT_TRUE(threads.contains(b.thread)) << "a thread comes before its events";
        events.push_back({b.thread, kind, r.head & low_bits, r.subject});
        continue;
      }
      ASSERT_FALSE(events.empty());
      ASSERT_EQ(events.back().thread, b.thread);
      events.back().number = r.head & low_bits;
      events.back().other = r.subject;
      if (events.back().kind != event::linked) {
        EXPECT_LT(events.back().number, names.size()) << "a name comes before its use";
      }
    }
  }
};

}  // namespace plaq::trace::detail
