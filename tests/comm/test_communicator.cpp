#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::world;

TEST(communicator, world_is_what_was_asked_for) {
  EXPECT_EQ(world().size(), expected_ranks().value_or(1));
  EXPECT_LT(world().rank(), world().size());
  EXPECT_EQ(thread_level().empty(), !find_launch());
}

/// Wire that seats ranks on nodes of its own, and counts what is asked of it.
class seating_wire final : public wire {
 public:
  struct counts {
    int duplicates = 0, nodes = 0, messages = 0;
  };
  seating_wire(std::unique_ptr<wire> over, std::vector<int> node_of, std::shared_ptr<counts> made)
      : over_(std::move(over)), node_of_(std::move(node_of)), made_(std::move(made)) {}

  int rank() const override { return over_->rank(); }
  int size() const override { return over_->size(); }
  std::unique_ptr<wire> duplicate() override {
    ++made_->duplicates;
    return std::make_unique<seating_wire>(over_->duplicate(), node_of_, made_);
  }
  std::unique_ptr<wire> split(int color, int key) override { return over_->split(color, key); }
  std::unique_ptr<wire> split_by_node() override {
    ++made_->nodes;
    return over_->split(node_of_[std::size_t(rank())], rank());
  }
  handle send(const blocks& from, int peer, int tag) override {
    ++made_->messages;
    return over_->send(from, peer, tag);
  }
  handle receive(const blocks& to, int peer, int tag) override { return over_->receive(to, peer, tag); }
  void cancel(handle receive) override { over_->cancel(receive); }
  std::optional<arrival> next_arrival() override { return over_->next_arrival(); }
  handle receive(const arrival& which, const blocks& to) override { return over_->receive(which, to); }
  handle prepare_send(const blocks& from, int peer, int tag) override { return over_->prepare_send(from, peer, tag); }
  void start(handle prepared, std::size_t bytes) override { over_->start(prepared, bytes); }
  void forget(handle prepared) override { over_->forget(prepared); }
  void test(std::span<handle> in_progress, std::vector<end>& ends) override { over_->test(in_progress, ends); }

 private:
  std::unique_ptr<wire> over_;
  std::vector<int> node_of_;
  std::shared_ptr<counts> made_;
};

// Whatever ranks share a node, in order or not, equally many or not.
TEST(communicator, finds_its_nodes_once) {
  const int p = world().size();
  for (const auto& node_of_rank : std::vector<std::function<int(int)>>{
           [](int) { return 0; }, [](int r) { return r; }, [](int r) { return r / 3; }, [](int r) { return r % 2; },
           [](int r) { return (r + 1) / 3; }, [](int r) { return r == 0 ? 5 : 1; }}) {
    std::vector<int> node_of;
    for (int r = 0; r < p; ++r) node_of.push_back(node_of_rank(r));
    const auto made = std::make_shared<seating_wire::counts>();
    const communicator over(std::make_unique<seating_wire>(world().open_wire(), node_of, made));
    for (int time = 0; time < 2; ++time) {
      *made = {};
      collectives c(over);
      EXPECT_EQ(made->duplicates, 1);
      EXPECT_EQ(made->nodes, time == 0 ? 1 : 0);
      if (time == 1) {
        EXPECT_LT(made->messages, std::max(p, 2)) << "of one broadcast";
      }
      const node_map expected(node_of);
      const auto& found = c.ranks_by_node();
      EXPECT_EQ(found.nodes(), expected.nodes());
      for (int i = 0; i < p; ++i) EXPECT_EQ(found.rank_at(i), expected.rank_at(i));
      EXPECT_EQ(found.split({0, p}, 3), expected.split({0, p}, 3));
      std::array sum{world().rank()};
      c.all_reduce(sum, operation::sum);
      EXPECT_EQ(sum[0], p * (p - 1) / 2);
    }
  }
}

// The set-up makes calls before it knows the method: none of their schedules stays.
TEST(communicator, calls_go_by_the_method_that_was_asked_for) {
  const auto made = std::make_shared<seating_wire::counts>();
  const int p = world().size();
  const communicator over(std::make_unique<seating_wire>(world().open_wire(), std::vector<int>(std::size_t(p)), made));
  for (int time = 0; time < 2; ++time) {
    collectives c(over, {.by = method{algorithm::chain, 1}});
    for (std::size_t bytes = 1; bytes <= 64; ++bytes) {
      *made = {};
      std::vector<char> value(bytes);
      c.broadcast(value);
      EXPECT_EQ(made->messages, c.rank() + 1 < p ? 1 : 0) << bytes << " bytes";
    }
  }
}

TEST(communicator, is_move_only) {
  static_assert(!std::is_copy_constructible_v<communicator>);
  communicator a = world().split(0);
  communicator b = std::move(a);
  EXPECT_EQ(b.size(), world().size());
  collectives(b).barrier();
}

TEST(communicator, splits_by_color_and_orders_by_key) {
  const int p = world().size(), me = world().rank();
  const communicator part = world().split(me % 2, -me);
  EXPECT_EQ(part.size(), me % 2 ? p / 2 : (p + 1) / 2);
  const auto members = collectives(part).all_gather_any(std::array{me}).values;
  EXPECT_TRUE(std::ranges::is_sorted(members, std::greater{}));
  for (int r : members) EXPECT_EQ(r % 2, me % 2);
  EXPECT_THROW(world().split(-1), plaq::input_error);
}

TEST(communicator, a_node_is_part_of_the_world) {
  const communicator node = world().split_by_node();
  EXPECT_GE(node.size(), 1);
  EXPECT_LE(node.size(), world().size());
}

TEST(communicator, the_longest_message_is_checked) {
  if (!find_launch()) GTEST_SKIP() << "only MPI cuts messages";
  if (launched_rank() > 0) GTEST_SKIP() << "the error of others waits for that of the first rank";
  EXPECT_THROW(plaq::comm::world({.longest_message = 0}), plaq::input_error);
}

}  // namespace
