// Ranks that are threads of one process. Messages between them come late, and those of one sender and tag overtake
// each other too, which no wire does in earnest: who gets on with that depends on no order.
#pragma once
#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::test {

class network {
 public:
  network(int ranks, unsigned seed) : ranks_(ranks), random_(seed) {}

  comm::communicator world(int rank) { return comm::communicator(std::make_unique<endpoint>(*this, rank, "")); }
  int size() const { return ranks_; }
  /// Number of messages so far.
  int letters() {
    std::lock_guard lock(guard_);
    return letters_;
  }

 private:
  struct letter {
    int peer, tag;
    std::vector<std::byte> bytes;
  };
  using place = std::pair<std::string, int>;  ///< of a duplicate, and a rank

  class endpoint final : public comm::wire {
   public:
    endpoint(network& of, int rank, std::string name) : of_(of), rank_(rank), name_(std::move(name)) {}
    int rank() const override { return rank_; }
    int size() const override { return of_.ranks_; }
    std::unique_ptr<comm::wire> duplicate() override {
      return std::make_unique<endpoint>(of_, rank_, name_ + "." + std::to_string(made_++));
    }
    handle send(const comm::blocks& from, int peer, int tag) override {
      letter fresh{rank_, tag, std::vector<std::byte>(from.bytes())};
      comm::copy(from, {fresh.bytes.data(), fresh.bytes.size(), 1, fresh.bytes.size()});
      std::lock_guard lock(of_.guard_);
      of_.under_way_[{name_, peer}].push_back(std::move(fresh));
      ++of_.letters_;
      return 1;
    }
    std::optional<arrival> next_arrival() override {
      std::lock_guard lock(of_.guard_);
      auto& all = of_.under_way_[{name_, rank_}];
      if (all.empty() || of_.random_() % 4 == 0) return std::nullopt;
      std::swap(all[of_.random_() % all.size()], all.back());
      const auto number = of_.last_++;
      of_.taken_[number] = std::move(all.back());
      all.pop_back();
      const letter& l = of_.taken_[number];
      return arrival{l.peer, l.tag, l.bytes.size(), number};
    }
    handle receive(const arrival& which, const comm::blocks& to) override {
      std::lock_guard lock(of_.guard_);
      auto taken = of_.taken_.extract(which.message).mapped();
      comm::copy({taken.bytes.data(), taken.bytes.size(), 1, taken.bytes.size()}, to);
      return 1;
    }
    /// All is done at once.
    void test(std::span<handle> under_way, std::vector<end>& ends) override {
      for (std::size_t i = 0; i < under_way.size(); ++i) ends.push_back({i, 0, ""});
    }
    void forget(handle) override {}

    // Not for messengers that send no more than letters.
    std::unique_ptr<comm::wire> split(int, int) override { not_here(); }
    std::unique_ptr<comm::wire> split_by_node() override { not_here(); }
    handle receive(const comm::blocks&, int, int) override { not_here(); }
    void cancel(handle) override { not_here(); }
    handle prepare_send(const comm::blocks&, int, int) override { not_here(); }
    void start(handle, std::size_t) override { not_here(); }

   private:
    [[noreturn]] static void not_here() { std::terminate(); }
    network& of_;
    int rank_;
    std::string name_;
    int made_ = 0;
  };

  const int ranks_;
  std::mutex guard_;
  std::mt19937 random_;
  std::map<place, std::vector<letter>> under_way_;
  std::map<comm::wire::handle, letter> taken_;
  comm::wire::handle last_ = 1;
  int letters_ = 0;
};

/// What body(world) throws, or an empty string, for each of so many ranks.
template <class Body>
std::vector<std::string> on_ranks(int ranks, unsigned seed, Body&& body) {
  network all(ranks, seed);
  std::vector<std::string> said(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> running;
  for (int r = 0; r < ranks; ++r)
    running.emplace_back([&, r] {
      try {
        body(all.world(r));
      } catch (const std::exception& e) {
        said[std::size_t(r)] = e.what();
      }
    });
  running.clear();
  return said;
}

}  // namespace plaq::test
