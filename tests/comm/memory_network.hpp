// Ranks that live in one process: messages as slow and as reordered as MPI allows, for tests of schedules.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "plaq/comm/collectives/byte_executor.hpp"
#include "plaq/comm/schedules/algorithms.hpp"

namespace plaq::comm::test {

/// Matches messages in the order in which they were started. Half of them leave their buffer at once; the others
/// are read only when the receiver takes them, so that a buffer that is written too early shows.
class memory_network {
 public:
  memory_network(int ranks, unsigned seed) : ranks_(ranks), random_(seed) {}

  std::unique_ptr<wire> open(int rank) { return std::make_unique<endpoint>(*this, rank); }
  bool is_empty() const {
    return std::ranges::all_of(lines_, [](const auto& l) { return l.second.sent.empty() && l.second.wanted.empty(); });
  }

 private:
  class endpoint;
  struct sent_message {
    std::vector<std::byte> copy;
    std::span<const std::byte> original;  // empty where there is a copy
    endpoint* sender;
    wire::handle number;
  };
  struct wanted_message {
    std::span<std::byte> data;
    endpoint* receiver;
    wire::handle number;
  };
  struct line {
    std::deque<sent_message> sent;
    std::deque<wanted_message> wanted;
  };

  class endpoint final : public wire {
   public:
    endpoint(memory_network& network, int rank) : network_(network), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return network_.ranks_; }
    handle send(const blocks& from, int peer, int tag) override {
      const std::span<const std::byte> data(from.data, from.bytes());
      sent_message m{{}, data, this, ++last_};
      if (network_.random_() % 2) {
        m.copy.assign(data.begin(), data.end());
        m.original = {};
        done_.insert(last_);
      }
      network_.lines_[{rank_, peer, tag}].sent.push_back(std::move(m));
      return last_;
    }
    handle receive(const blocks& to, int peer, int tag) override {
      network_.lines_[{peer, rank_, tag}].wanted.push_back({{to.data, to.bytes()}, this, ++last_});
      return last_;
    }
    void test(std::span<handle> in_progress, std::vector<end>& ends) override {
      for (auto& [who, line] : network_.lines_)
        if (std::get<1>(who) == rank_ && network_.random_() % 3) network_.deliver(line);
      const auto before = ends.size();
      for (std::size_t i = 0; i < in_progress.size(); ++i)
        if (const auto d = done_.find(in_progress[i]); d != done_.end()) {
          ends.push_back({i, received_[in_progress[i]], ""});
          done_.erase(d);
        }
      std::shuffle(ends.begin() + std::ptrdiff_t(before), ends.end(), network_.random_);
    }

    // Of messengers and communicators, not of schedules.
    std::unique_ptr<wire> duplicate() override { not_here(); }
    std::unique_ptr<wire> split(int, int) override { not_here(); }
    std::unique_ptr<wire> split_by_node() override { not_here(); }
    void cancel(handle) override { not_here(); }
    std::optional<arrival> next_arrival() override { not_here(); }
    handle receive(const arrival&, const blocks&) override { not_here(); }
    handle prepare_send(const blocks&, int, int) override { not_here(); }
    void start(handle, std::size_t) override { not_here(); }
    void forget(handle) override { not_here(); }

   private:
    friend class memory_network;
    [[noreturn]] static void not_here() { std::abort(); }
    memory_network& network_;
    int rank_;
    handle last_ = 0;
    std::set<handle> done_;
    std::map<handle, std::size_t> received_;  // bytes
  };

  void deliver(line& l) {
    while (!l.sent.empty() && !l.wanted.empty()) {
      const auto from = std::move(l.sent.front());
      const auto to = l.wanted.front();
      l.sent.pop_front();
      l.wanted.pop_front();
      const auto data = from.original.empty() ? std::span<const std::byte>(from.copy) : from.original;
      if (data.size() != to.data.size()) throw std::logic_error("a message has another size than its receiver expects");
      std::memcpy(to.data.data(), data.data(), data.size());
      to.receiver->done_.insert(to.number);
      to.receiver->received_[to.number] = data.size();
      if (!from.original.empty()) from.sender->done_.insert(from.number);
    }
  }

  int ranks_;
  std::mt19937 random_;
  std::map<std::tuple<int, int, int>, line> lines_;  // sender, receiver, tag
};

/// Runs one operation on all ranks of a network, in an order that the seed decides. inputs and outputs are [rank].
template <class T>
void run_in_memory(const request& wanted, const method& by, const node_map& where, const combination& combine,
                   std::vector<std::vector<T>>& inputs, std::vector<std::vector<T>>& outputs, unsigned seed) {
  const int ranks = where.size();
  memory_network network(ranks, seed);
  std::mt19937 random(seed + 1);
  std::vector<schedule> todo(ranks);
  std::vector<std::vector<std::byte>> scratch(ranks);
  std::vector<std::unique_ptr<wire>> wires(ranks);
  std::vector<std::unique_ptr<byte_executor>> executors(ranks);
  std::vector<schedule_runner> engines(ranks);
  for (int r = 0; r < ranks; ++r) {
    todo[r] = make_schedule(wanted, by, where, r);
    scratch[r].resize(todo[r].scratch);
    wires[r] = network.open(r);
    executors[r] = std::make_unique<byte_executor>(*wires[r]);
    executors[r]->begin(7,
                        {reinterpret_cast<const std::byte*>(inputs[r].data()),
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
