#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/measure.hpp"
#include "plaq/comm/schedules/tuning.hpp"

namespace {

using namespace plaq::comm;

TEST(tuning, takes_the_nearest_row) {
  const auto table = tuning::parse(
      "# measured\n"
      "all_reduce 4 0 butterfly 4 0\nall_reduce 4 1000 ring 2 0   # long\n\nall_reduce 64 0 tree 8 256\n",
      "a table");
  const auto choice = [&](int ranks, std::size_t bytes) {
    return table.choose(collective::all_reduce, node_map(ranks), bytes);
  };
  EXPECT_EQ(choice(4, 999), (method{algorithm::butterfly, 4, 0}));
  EXPECT_EQ(choice(5, 1000), (method{algorithm::ring, 2, 0}));
  EXPECT_EQ(choice(17, 5), (method{algorithm::tree, 8, 256}));
  EXPECT_EQ(table.choose(collective::barrier, node_map(4), 1), default_method(collective::barrier, node_map(4), 1));
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

/// Variables of the environment as long as it lives; nullopt takes one away.
class environment_with {
 public:
  explicit environment_with(std::map<std::string, std::optional<std::string>> values) {
    for (const auto& [name, value] : values) {
      const char* before = std::getenv(name.c_str());
      before_[name] = before ? std::optional<std::string>(before) : std::nullopt;
      set(name, value);
    }
  }
  ~environment_with() {
    for (const auto& [name, value] : before_) set(name, value);
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST(tuning, lies_where_the_environment_says) {
  using text = std::optional<std::string>;
  const auto path = [](const text& own, const text& config, const text& home) {
    const environment_with now({{"PLAQ_COMM_TUNING", own}, {"XDG_CONFIG_HOME", config}, {"HOME", home}});
    return tuning::path();
  };
  EXPECT_EQ(path("/a/table", "/config", "/home/me"), "/a/table");
  EXPECT_EQ(path({}, "/config", "/home/me"), "/config/plaq/comm.tuning");
  EXPECT_EQ(path({}, {}, "/home/me"), "/home/me/.config/plaq/comm.tuning");
  EXPECT_EQ(path({}, {}, {}), "");
}

TEST(tuning, of_this_machine_is_empty_without_a_file_and_names_one_that_is_wrong) {
  const std::string file = testing::TempDir() + "comm.tuning." + std::to_string(::getpid());
  const environment_with now({{"PLAQ_COMM_TUNING", file}});
  EXPECT_EQ(tuning::of_this_machine().text(), "");
  std::ofstream(file) << "barrier 4 0 tree 8 0\n";
  EXPECT_EQ(tuning::of_this_machine().choose(collective::barrier, node_map(4), 1), (method{algorithm::tree, 8, 0}));
  std::ofstream(file) << "barrier 4 0 tree\n";
  try {
    (void)tuning::of_this_machine();
    ADD_FAILURE();
  } catch (const plaq::input_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with(file + ", line 1: 'barrier 4 0 tree' is not")) << e.what();
  }
  std::filesystem::remove(file);
}

// What `plaq comm tune` tries: each a method that can be, none twice, and all algorithms that there are.
TEST(tuning, candidates_can_all_be_carried_out) {
  for (int what = 0; what < 11; ++what)
    for (const int ranks : {1, 2, 3, 8, 33})
      for (const std::size_t bytes : {std::size_t(4), std::size_t(1) << 20}) {
        const auto all = candidates(collective(what), ranks, bytes);
        std::set<algorithm> tried;
        for (auto m = all.begin(); m != all.end(); ++m) {
          EXPECT_NO_THROW((void)make_schedule({collective(what), 0, bytes, 4}, *m, node_map(ranks), ranks - 1));
          EXPECT_EQ(std::find(m + 1, all.end(), *m), all.end()) << name_of(collective(what)) << " on " << ranks;
          tried.insert(m->how);
        }
        for (const algorithm how : algorithms_for(collective(what)))
          EXPECT_TRUE(tried.contains(how) || how == algorithm::chain)
              << name_of(collective(what)) << " by " << name_of(how);
      }
}

TEST(tuning, has_a_default_for_everything) {
  for (int what = 0; what < 11; ++what)
    for (int ranks : {1, 2, 7, 64, 1000})
      for (int per_node : {1, 3, ranks}) {
        std::vector<int> node_of;
        for (int rank = 0; rank < ranks; ++rank) node_of.push_back(rank / per_node);
        const node_map map(node_of);
        for (std::size_t bytes : {0, 8, 2048, 65536, 1 << 20, 1 << 28})
          EXPECT_NO_THROW(make_schedule({collective(what), 0, ranks < 100 ? bytes : 8},
                                        default_method(collective(what), map, bytes), map, 0));
      }
}

TEST(tuning, sums_between_nodes_by_halving_only_where_all_ranks_pair_off) {
  const auto choice = [](std::vector<int> node_of, std::size_t bytes) {
    return default_method(collective::all_reduce, node_map(node_of), bytes).how;
  };
  for (const std::size_t bytes : {4096, 1 << 16, 1 << 20}) {
    EXPECT_EQ(choice({0, 0, 1, 1, 2, 2, 3, 3}, bytes), algorithm::halving);
    EXPECT_NE(choice({0, 0, 1, 1, 2, 2}, bytes), algorithm::halving);
  }
}

}  // namespace
