// A wire whose other ranks are the test: it says what arrives, what has gone and what fails.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm::test {

/// What the wire has been asked for and what it is to do. `fails` are the calls that throw.
struct script {
  std::set<std::string> fails;
  std::deque<wire::arrival> arrivals;
  std::map<wire::handle, std::string> ended;      ///< and with which error
  std::map<wire::handle, std::size_t> bytes_got;  ///< of a receive, where it is not all
  std::vector<wire::handle> begun, forgotten, cancelled;
  std::vector<std::size_t> looked_at;  ///< handles, at each look at several
  std::byte fill{0x5a};                ///< what is received

  void arrives(int peer, int tag, std::size_t bytes) { arrivals.push_back({peer, tag, bytes, 1}); }
};

/// Of rank 0 of `ranks`.
class scripted_wire final : public wire {
 public:
  scripted_wire(script& by, int ranks) : by_(by), ranks_(ranks) {}

  int rank() const override { return 0; }
  int size() const override { return ranks_; }
  std::unique_ptr<wire> duplicate() override { return std::make_unique<scripted_wire>(by_, ranks_); }
  std::unique_ptr<wire> split(int, int) override { return duplicate(); }
  std::unique_ptr<wire> split_by_node() override { return duplicate(); }

  handle send(const blocks& from, int, int) override { return begin("send", from.bytes()); }
  handle receive(const blocks& to, int, int) override { return begin("receive", fill(to)); }
  handle receive(const arrival&, const blocks& to) override { return begin("receive", fill(to)); }
  void cancel(handle h) override { by_.cancelled.push_back(h); }
  std::optional<arrival> next_arrival() override {
    need("next_arrival");
    if (by_.arrivals.empty()) return std::nullopt;
    const arrival first = by_.arrivals.front();
    by_.arrivals.pop_front();
    return first;
  }
  handle prepare_send(const blocks& from, int, int) override { return begin("prepare_send", from.bytes()); }
  void start(handle, std::size_t) override { need("start"); }
  void forget(handle h) override { by_.forgotten.push_back(h); }
  handle copy(const blocks& from, const blocks& to) override {
    need("copy");
    return wire::copy(from, to);
  }
  void test(std::span<handle> in_progress, std::vector<end>& ends) override {
    if (in_progress.size() > 1) by_.looked_at.push_back(in_progress.size());
    for (std::size_t i = 0; i < in_progress.size(); ++i)
      if (const auto e = by_.ended.find(in_progress[i]); e != by_.ended.end()) {
        const auto got = by_.bytes_got.find(in_progress[i]);
        ends.push_back({i, got == by_.bytes_got.end() ? sizes_[in_progress[i]] : got->second, e->second});
        by_.ended.erase(e);
      }
  }

 private:
  void need(const std::string& call) const {
    if (by_.fails.contains(call)) throw runtime_failure("the cable is out");
  }
  std::size_t fill(const blocks& to) const {
    if (to.bytes() > 0 && to.contiguous()) std::memset(to.data, int(by_.fill), to.bytes());
    return to.bytes();
  }
  handle begin(const std::string& call, std::size_t bytes) {
    need(call);
    by_.begun.push_back(by_.begun.size() + 1);
    sizes_[by_.begun.back()] = bytes;
    return by_.begun.back();
  }

  script& by_;
  int ranks_;
  std::map<handle, std::size_t> sizes_;
};

}  // namespace plaq::comm::test
