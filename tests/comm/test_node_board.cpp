// Which processes of a node share cores.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "plaq/comm/mpi/node_board.hpp"

namespace plaq::comm {
namespace {

cpu_set cpus(std::initializer_list<std::size_t> which) {
  cpu_set set;
  for (const auto c : which) set.set(c);
  return set;
}

TEST(sharing, of_unbound_processes_begins_with_more_than_cores) {
  const std::vector<cpu_set> two(2, cpus({0, 1})), three(3, cpus({0, 1}));
  EXPECT_EQ(find_sharing(two, 0), std::vector<bool>(2, false));
  EXPECT_EQ(find_sharing(three, 0), std::vector<bool>(3, true));
}

TEST(sharing, of_bound_processes_depends_on_their_cores) {
  const std::array<cpu_set, 4> some{cpus({0}), cpus({1}), cpus({2, 3}), cpus({1})};
  EXPECT_EQ(find_sharing(some, 0), (std::vector<bool>{false, true, false, true}));
}

TEST(sharing, follows_from_a_limit_of_processor_time) {
  const std::vector<cpu_set> two(2, cpus({0, 1, 2, 3}));
  EXPECT_EQ(find_sharing(two, 1.5), std::vector<bool>(2, false));
  EXPECT_EQ(find_sharing(two, 1), std::vector<bool>(2, true));
}

}  // namespace
}  // namespace plaq::comm
