// The directory of elements without messages between ranks: forwarding, stale entries, numbers of moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "plaq/collection/runtime/directory.hpp"
#include "plaq/collection/step_context.hpp"

namespace plaq::elements {
namespace {

using int_element = element_of<int>;

std::unique_ptr<element> make_element(key id, std::int64_t moves = 0) {
  auto out = std::make_unique<int_element>(id, int(id));
  out->moves = moves;
  return out;
}
std::unique_ptr<message> make_message(std::uint32_t order = 0) {
  return std::make_unique<message>(0, order, 0, 0, message_value::of<int>(1));
}

/// Messages that elements of a directory have accepted.
struct inbox {
  std::vector<std::uint32_t> orders;
  auto accept() {
    return [this](element&, std::unique_ptr<message> m) { orders.push_back(m->order); };
  }
};

/// Directory of rank 2 whose elements are at home on rank `id % 4`.
directory on_rank_2() {
  return {2, [](key id) { return int(id % 4); }};
}

TEST(directory, an_unknown_element_is_at_home_after_no_moves) {
  auto all = on_rank_2();
  EXPECT_EQ(all.find(7), (location{3, 0}));
  EXPECT_EQ(all.size(), 0u);
  EXPECT_FALSE(all.moves_of(7));
}

TEST(directory, delivers_to_an_element_that_is_here) {
  auto all = on_rank_2();
  inbox in;
  EXPECT_NE(all.insert(make_element(2), in.accept()), nullptr);
  EXPECT_FALSE(all.deliver(2, -1, make_message(8), in.accept()));
  EXPECT_EQ(in.orders, std::vector<std::uint32_t>{8});
  EXPECT_EQ(all.moves_of(2), 0);
}

TEST(directory, forwards_a_new_message_to_the_home) {
  auto all = on_rank_2();
  inbox in;
  auto m = make_message();
  EXPECT_EQ(all.deliver(7, -1, std::move(m), in.accept()), (location{3, 0}));
  EXPECT_NE(m, nullptr) << "a message to forward is not consumed";
}

TEST(directory, keeps_messages_for_an_element_on_its_way_here) {
  auto all = on_rank_2();
  inbox in;
  EXPECT_FALSE(all.deliver(6, -1, make_message(1), in.accept())) << "at home here, not there yet";
  EXPECT_FALSE(all.deliver(7, 0, make_message(2), in.accept()))
      << "sent here by the entry of a move that has not arrived";
  EXPECT_FALSE(all.deliver(7, 5, make_message(3), in.accept()));
  EXPECT_TRUE(in.orders.empty());
  std::vector<std::pair<key, std::size_t>> awaited;
  all.for_each_awaited([&](key id, const message_list& messages) { awaited.emplace_back(id, messages.size()); });
  std::ranges::sort(awaited);
  EXPECT_EQ(awaited, (std::vector<std::pair<key, std::size_t>>{{6, 1}, {7, 2}}));

  all.insert(make_element(7, 5), in.accept());
  EXPECT_EQ(in.orders, (std::vector<std::uint32_t>{2, 3})) << "in the order in which they came";
  all.insert(make_element(6), in.accept());
  EXPECT_EQ(in.orders.back(), 1u);
  all.for_each_awaited([](key id, const auto&) { ADD_FAILURE() << id << " is here"; });
}

TEST(directory, a_rank_that_an_element_leaves_forwards_to_where_it_went) {
  auto all = on_rank_2();
  inbox in;
  element* e = all.insert(make_element(2, 3), in.accept());
  const auto left = all.remove(*e, 0);
  EXPECT_EQ(left->moves, 4);
  EXPECT_EQ(all.size(), 0u);
  EXPECT_EQ(all.find(2), (location{0, 4}));
  EXPECT_EQ(all.deliver(2, -1, make_message(), in.accept()), (location{0, 4}));
  EXPECT_EQ(all.deliver(2, 3, make_message(), in.accept()), (location{0, 4}));
  EXPECT_FALSE(all.deliver(2, 4, make_message(), in.accept()))
      << "the sender knows as much: it is on its way back here";
}

TEST(directory, an_update_of_fewer_moves_is_stale) {
  auto all = on_rank_2();
  all.update({7, 4, 1});
  EXPECT_EQ(all.find(7), (location{1, 4}));
  all.update({7, 3, 0});
  EXPECT_EQ(all.find(7), (location{1, 4}));
  all.update({7, 4, 0});
  EXPECT_EQ(all.find(7), (location{1, 4}));
  all.update({7, 6, 0});
  EXPECT_EQ(all.find(7), (location{0, 6}));
}

TEST(directory, an_update_does_not_touch_an_element_that_is_here) {
  auto all = on_rank_2();
  inbox in;
  all.insert(make_element(7, 2), in.accept());
  all.update({7, 9, 1});
  EXPECT_FALSE(all.deliver(7, -1, make_message(), in.accept()));
  EXPECT_EQ(in.orders.size(), 1u);
  EXPECT_EQ(all.moves_of(7), 2);
}

TEST(directory, an_arrival_drops_the_entry) {
  auto all = on_rank_2();
  inbox in;
  all.update({7, 1, 0});
  element* e = all.insert(make_element(7, 2), in.accept());
  EXPECT_EQ(all.remove(*e, 1)->moves, 3);
  EXPECT_EQ(all.find(7), (location{1, 3}));
}

TEST(directory, an_element_is_here_once) {
  auto all = on_rank_2();
  inbox in;
  EXPECT_NE(all.insert(make_element(2), in.accept()), nullptr);
  EXPECT_EQ(all.insert(make_element(2), in.accept()), nullptr);
  EXPECT_EQ(all.size(), 1u);
}

TEST(directory, an_element_inserted_again_is_ahead_of_all_entries_of_the_removed_one) {
  auto all = on_rank_2();
  inbox in;
  element* e = all.insert(make_element(2, directory::is_new), in.accept());
  EXPECT_EQ(e->moves, 0) << "home knows nothing of it";
  const auto removed = all.remove(*e, 2);
  e = all.insert(make_element(2, directory::is_new), in.accept());
  EXPECT_EQ(e->moves, removed->moves + 2) << "ahead of a late update about the removal, too";
}

TEST(directory, forgets_detours_but_not_its_own_elements) {
  auto all = on_rank_2();
  all.update({7, 4, 1});  // at home on rank 3
  all.update({6, 4, 1});  // at home here
  all.forget_detours();
  EXPECT_EQ(all.find(7), (location{3, 0}));
  EXPECT_EQ(all.find(6), (location{1, 4}));
}

TEST(directory, lists_elements_in_the_order_of_keys) {
  auto all = on_rank_2();
  inbox in;
  for (const key id : {9u, 3u, 70u, 1u, 20u}) all.insert(make_element(id), in.accept());
  std::vector<key> ids;
  for (const element* e : all.sorted()) ids.push_back(e->id);
  EXPECT_EQ(ids, (std::vector<key>{1, 3, 9, 20, 70}));
  std::size_t count = 0, shards = 0;
  all.for_each([&](element&) { ++count; }, [&] { ++shards; });
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(shards, 64u);
}

/// Ranks as directories, and what travels between them in any order: every message arrives.
class travels {
 public:
  travels(int ranks, unsigned seed) : random_(seed) {
    for (int r = 0; r < ranks; ++r)
      ranks_.push_back(std::make_unique<directory>(r, [ranks](key id) { return int(id % key(ranks)); }));
  }
  std::size_t accepted = 0, hops = 0;

  void begin(key id) { arrive(home(id), make_element(id)); }
  void send(int from, key to) { deliver(from, to, -1, from, from); }
  /// Moves the element from where it is, if it is anywhere, and tells its home.
  void move(key id, int to) {
    for (int r = 0; r < size(); ++r)
      if (at(r).moves_of(id) && r != to) {
        element* e = nullptr;
        at(r).for_each([&](element& x) {
          if (x.id == id) e = &x;
        });
        auto left = std::make_shared<std::unique_ptr<element>>(at(r).remove(*e, to));
        const location_update update{id, (*left)->moves, to};
        travel([this, to, left] { arrive(to, std::move(*left)); });
        if (home(id) != r && home(id) != to) travel([this, update] { at(home(update.id)).update(update); });
        return;
      }
  }
  /// Lets one of the things that travel arrive. Returns false if there is none.
  bool next() {
    if (travelling_.empty()) return false;
    std::swap(travelling_[random_() % travelling_.size()], travelling_.back());
    auto arrive = std::move(travelling_.back());
    travelling_.pop_back();
    arrive();
    return true;
  }
  int size() const { return int(ranks_.size()); }
  directory& at(int rank) { return *ranks_[std::size_t(rank)]; }

 private:
  int home(key id) const { return int(id % key(size())); }
  void travel(std::function<void()> arrive) { travelling_.push_back(std::move(arrive)); }
  auto accept() {
    return [this](element&, std::unique_ptr<message>) { ++accepted; };
  }
  void arrive(int rank, std::unique_ptr<element> e) { at(rank).insert(std::move(e), accept()); }
  void deliver(int rank, key to, std::int64_t moves, int origin, int sender) {
    if (origin != sender && origin != rank)
      if (const auto m = at(rank).moves_of(to); m && *m > 0) {
        const location_update update{to, *m, rank};
        travel([this, update, origin] { at(origin).update(update); });
      }
    const auto there = at(rank).deliver(to, moves, make_message(), accept());
    if (!there) return;
    EXPECT_GT(there->moves, moves) << "each hop knows more";
    ++hops;
    travel([this, to, there = *there, origin, rank] { deliver(there.rank, to, there.moves, origin, rank); });
  }

  std::mt19937 random_;
  std::vector<std::unique_ptr<directory>> ranks_;
  std::vector<std::function<void()>> travelling_;
};

TEST(directory, every_message_arrives_whatever_overtakes_what) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    travels j(1 + int(random() % 6), seed);
    constexpr key elements = 5;
    for (key id = 0; id < elements; ++id) j.begin(id);
    const auto rank = [&] { return int(random() % unsigned(j.size())); };
    std::size_t sent = 0;
    for (int event = 0; event < 300; ++event) switch (random() % 3) {
        case 0: j.send(rank(), random() % elements), ++sent; break;
        case 1: j.move(random() % elements, rank()); break;
        case 2: j.next(); break;
      }
    while (j.next()) {
    }
    EXPECT_EQ(j.accepted, sent) << "seed " << seed;
    std::uint64_t here = 0;
    for (int r = 0; r < j.size(); ++r) here += j.at(r).size();
    EXPECT_EQ(here, elements);
    for (key id = 0; id < elements; ++id) {  // and homes know where all are
      const int home = int(id % key(j.size()));
      const int at = j.at(home).moves_of(id) ? home : j.at(home).find(id).rank;
      EXPECT_TRUE(j.at(at).moves_of(id)) << "seed " << seed << ", element " << id;
    }
  }
}

}  // namespace
}  // namespace plaq::elements
