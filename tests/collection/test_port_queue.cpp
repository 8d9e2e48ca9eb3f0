// Queues of messages: what comes in any order is taken by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plaq/collection/runtime/message.hpp"

namespace plaq::elements {
namespace {

using mark = std::tuple<key, step_number, std::uint32_t>;

std::unique_ptr<message> make(key from, step_number step, std::uint32_t order) {
  return std::make_unique<message>(3, order, step, from, message_value::of<int>(int(from)));
}
std::vector<mark> marks(message_list list) {
  list.sort();
  std::vector<mark> out;
  for (const message* m = list.first(); m; m = m->next) out.emplace_back(m->from, m->step, m->order);
  return out;
}

// Senders that run ahead by any number of steps, a receiver that takes now and then: against a list of all.
TEST(port_queue, gives_each_step_what_was_sent_before_it_by_sender) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<mark> sent;
    for (key from = 0; from < 5; ++from)
      for (step_number step = 0; step < 60; ++step)
        for (std::uint32_t order = 0; order < random() % 3; ++order) sent.emplace_back(from, step, order);
    std::ranges::shuffle(sent, random);
    port_queue queue;
    std::vector<mark> waiting;
    step_number taken = 0;
    for (std::size_t i = 0; i <= sent.size(); ++i) {
      if (i == sent.size() || random() % 20 == 0) {
        taken = i == sent.size() ? 60 : std::min<step_number>(60, taken + step_number(random() % 5));
        std::vector<mark> due;
        std::erase_if(waiting, [&](const mark& m) {
          if (std::get<1>(m) >= taken) return false;
          due.push_back(m);
          return true;
        });
        std::ranges::sort(due);
        EXPECT_EQ(queue.count_before(taken), due.size());
        EXPECT_EQ(marks(queue.take_before(taken)), due);
        EXPECT_EQ(queue.empty(), waiting.empty());
      }
      if (i == sent.size()) break;
      const auto& [from, step, order] = sent[i];
      queue.add(make(from, step, order));
      waiting.push_back(sent[i]);
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(message_value, is_what_was_sent_whether_it_travelled_or_not) {
  const auto both = []<class V>(const V& value) {
    std::vector<std::byte> bytes;
    message_value::of<V>(V(value)).pack(bytes);
    EXPECT_EQ(message_value::of<V>(V(value)).template take<V>(), value);
    EXPECT_EQ(message_value::packed(bytes).template take<V>(), value);
    message_value moved = message_value::of<V>(V(value));
    const message_value at_last(std::move(moved));
    std::vector<std::byte> again;
    at_last.pack(again);
    EXPECT_EQ(again, bytes);
  };
  both(7);
  both(std::array<double, 3>{1, 2, 3});
  both(std::array<double, 4>{1, 2, 3, 4});
  both(std::string("x"));
  both(std::string(100, 'x'));
  both(std::vector<std::string>{"a", "b"});
  EXPECT_THROW(message_value::of<int>(1).take<double>(), runtime_failure);
  EXPECT_THROW(message_value::of<int>(1).take<std::string>(), runtime_failure);
}

}  // namespace
}  // namespace plaq::elements
