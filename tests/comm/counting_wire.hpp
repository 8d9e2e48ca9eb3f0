// Wire that counts what is asked of it.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm::test {

/// Wire that counts what is asked of it and of the wires made from it, and may seat its ranks on nodes of its own.
class counting_wire final : public wire {
 public:
  struct counts {
    int duplicates = 0, splits = 0, nodes = 0, messages = 0;
    std::size_t bytes = 0;
  };
  /// `node_of`: node of each rank; empty: those of `over`. `made` outlives the wire.
  counting_wire(std::unique_ptr<wire> over, counts& made, std::vector<int> node_of = {})
      : over_(std::move(over)), made_(made), node_of_(std::move(node_of)) {}

  int rank() const override { return over_->rank(); }
  int size() const override { return over_->size(); }
  std::unique_ptr<wire> duplicate() override {
    ++made_.duplicates;
    return counted(over_->duplicate(), node_of_);
  }
  std::unique_ptr<wire> split(int color, int key) override {
    ++made_.splits;
    return counted(over_->split(color, key));
  }
  std::unique_ptr<wire> split_by_node() override {
    ++made_.nodes;
    return counted(node_of_.empty() ? over_->split_by_node() : over_->split(node_of_[std::size_t(rank())], rank()));
  }
  handle send(const blocks& from, int peer, int tag) override {
    ++made_.messages;
    made_.bytes += from.bytes();
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
  std::unique_ptr<wire> counted(std::unique_ptr<wire> fresh, std::vector<int> node_of = {}) {
    return std::make_unique<counting_wire>(std::move(fresh), made_, std::move(node_of));
  }
  std::unique_ptr<wire> over_;
  counts& made_;
  std::vector<int> node_of_;
};

}  // namespace plaq::comm::test
