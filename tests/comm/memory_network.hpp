// Ranks that live in one process: messages as slow and as reordered as MPI allows, for tests of schedules.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "plaq/comm/algorithms.hpp"
#include "plaq/comm/engine.hpp"

namespace plaq::comm::test {

/// Matches messages in the order in which they were started. Half of them leave their buffer at once; the others
/// are read only when the receiver takes them, so that a buffer that is written too early shows.
class memory_network {
 public:
  explicit memory_network(unsigned seed) : random_(seed) {}

  std::unique_ptr<messages> open(int rank) { return std::make_unique<endpoint>(*this, rank); }
  bool is_empty() const {
    return std::ranges::all_of(lines_,
                               [](const auto& l) { return l.second.sent.empty() && l.second.wanted.empty(); });
  }

 private:
  class endpoint;
  struct sent_message {
    std::vector<std::byte> copy;
    std::span<const std::byte> original;  // empty where there is a copy
    endpoint* sender;
    std::uint32_t number;
  };
  struct wanted_message {
    std::span<std::byte> data;
    endpoint* receiver;
    std::uint32_t number;
  };
  struct line {
    std::deque<sent_message> sent;
    std::deque<wanted_message> wanted;
  };

  class endpoint final : public messages {
   public:
    endpoint(memory_network& network, int rank) : network_(network), rank_(rank) {}

    void send(std::span<const std::byte> data, int peer, int tag, std::uint32_t number) override {
      sent_message m{{}, data, this, number};
      if (network_.random_() % 2) {
        m.copy.assign(data.begin(), data.end());
        m.original = {};
        done_.push_back(number);
      }
      network_.lines_[{rank_, peer, tag}].sent.push_back(std::move(m));
    }
    void receive(std::span<std::byte> data, int peer, int tag, std::uint32_t number) override {
      network_.lines_[{peer, rank_, tag}].wanted.push_back({data, this, number});
    }
    void finished(std::vector<std::uint32_t>& numbers, bool) override {
      for (auto& [who, line] : network_.lines_)
        if (std::get<1>(who) == rank_ && network_.random_() % 3) network_.deliver(line);
      std::ranges::shuffle(done_, network_.random_);
      numbers.insert(numbers.end(), done_.begin(), done_.end());
      done_.clear();
    }

   private:
    friend class memory_network;
    memory_network& network_;
    int rank_;
    std::vector<std::uint32_t> done_;
  };

  void deliver(line& l) {
    while (!l.sent.empty() && !l.wanted.empty()) {
      const auto from = std::move(l.sent.front());
      const auto to = l.wanted.front();
      l.sent.pop_front();
      l.wanted.pop_front();
      const auto data = from.original.empty() ? std::span<const std::byte>(from.copy) : from.original;
      if (data.size() != to.data.size())
        throw std::logic_error("a message has another size than its receiver expects");
      std::memcpy(to.data.data(), data.data(), data.size());
      to.receiver->done_.push_back(to.number);
      if (!from.original.empty()) from.sender->done_.push_back(from.number);
    }
  }

  std::mt19937 random_;
  std::map<std::tuple<int, int, int>, line> lines_;  // sender, receiver, tag
};

/// Runs one operation on all ranks of a network, in an order that the seed decides. inputs and outputs are [rank].
template <class T>
void run_in_memory(const request& wanted, const method& by, const layout& where, const combination& combine,
                   std::vector<std::vector<T>>& inputs, std::vector<std::vector<T>>& outputs, unsigned seed) {
  const int ranks = where.size();
  memory_network network(seed);
  std::mt19937 random(seed + 1);
  std::vector<schedule> todo(ranks);
  std::vector<std::vector<std::byte>> scratch(ranks);
  std::vector<std::unique_ptr<messages>> lines(ranks);
  std::vector<std::unique_ptr<byte_executor>> executors(ranks);
  std::vector<engine> engines(ranks);
  for (int r = 0; r < ranks; ++r) {
    todo[r] = make_schedule(wanted, by, where, r);
    scratch[r].resize(todo[r].scratch);
    lines[r] = network.open(r);
    executors[r] = std::make_unique<byte_executor>(
        *lines[r], 7,
        byte_executor::buffers{reinterpret_cast<const std::byte*>(inputs[r].data()),
                               reinterpret_cast<std::byte*>(outputs[r].data()), scratch[r].data()},
        combine);
    engines[r].begin(todo[r], *executors[r]);
  }
  std::vector<int> busy(ranks);
  std::iota(busy.begin(), busy.end(), 0);
  for (int idle = 0; !busy.empty(); ++idle) {
    const auto r = busy.begin() + int(random() % busy.size());
    if (engines[*r].progress()) {
      busy.erase(r);
      idle = 0;
    }
    if (idle > 2000 * ranks) throw std::logic_error("the ranks wait for each other");
  }
  if (!network.is_empty()) throw std::logic_error("a message was never received");
}

}  // namespace plaq::comm::test
