#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/schedules/tuning.hpp"

namespace {

using namespace plaq::comm;

TEST(tuning, takes_the_nearest_row) {
  const auto table = tuning::parse(
      "# measured\n"
      "all_reduce 4 0 butterfly 4 0\nall_reduce 4 1000 ring 2 0   # long\n\nall_reduce 64 0 tree 8 256\n",
      "a table");
  const auto choice = [&](int ranks, std::size_t bytes) {
    return table.choose(collective::all_reduce, seating(ranks), bytes);
  };
  EXPECT_EQ(choice(4, 999), (method{algorithm::butterfly, 4, 0}));
  EXPECT_EQ(choice(5, 1000), (method{algorithm::ring, 2, 0}));
  EXPECT_EQ(choice(17, 5), (method{algorithm::tree, 8, 256}));
  EXPECT_EQ(table.choose(collective::barrier, seating(4), 1), default_method(collective::barrier, seating(4), 1));
  EXPECT_EQ(tuning::parse(table.text(), "itself").text(), table.text());
}

TEST(tuning, names_the_line_that_is_wrong) {
  for (const char* line : {"all_reduce 4 0 butterfly 4", "all_reduce 4 0 star 4 0", "all_reduce 0 0 tree 4 0",
                           "broadcast 4 0 ring 2 0", "broadcast 4 0 tree 1 0", "all_reduce 4 0 tree 2 0 0"}) {
    try {
      tuning::parse("\n" + std::string(line), "the file");
      ADD_FAILURE() << line;
    } catch (const plaq::input_error& e) {
      EXPECT_EQ(std::string(e.what()).find("the file, line 2: "), 0u) << e.what();
    }
  }
}

TEST(tuning, has_a_default_for_everything) {
  for (int what = 0; what < 10; ++what)
    for (int ranks : {1, 2, 7, 64, 1000})
      for (int per_node : {1, 3, ranks}) {
        std::vector<int> node_of;
        for (int rank = 0; rank < ranks; ++rank) node_of.push_back(rank / per_node);
        const seating seats(node_of);
        for (std::size_t bytes : {0, 8, 2048, 65536, 1 << 20, 1 << 28})
          EXPECT_NO_THROW(make_schedule({collective(what), 0, ranks < 100 ? bytes : 8},
                                        default_method(collective(what), seats, bytes), seats, 0));
      }
}

TEST(tuning, sums_between_nodes_by_halving_only_where_all_ranks_pair_off) {
  const auto choice = [](std::vector<int> node_of, std::size_t bytes) {
    return default_method(collective::all_reduce, seating(node_of), bytes).how;
  };
  for (const std::size_t bytes : {4096, 1 << 16, 1 << 20}) {
    EXPECT_EQ(choice({0, 0, 1, 1, 2, 2, 3, 3}, bytes), algorithm::halving);
    EXPECT_NE(choice({0, 0, 1, 1, 2, 2}, bytes), algorithm::halving);
  }
}

}  // namespace
