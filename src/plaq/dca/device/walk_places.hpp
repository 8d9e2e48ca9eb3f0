// The devices of a rank, and which one a chain goes to.
#pragma once
#include <deque>
#include <mutex>
#include <vector>

#include "plaq/dca/device/walk_place.hpp"

namespace plaq::dca::device {

/// Two for every multiprocessor, so that it has one left where another one ends first, and no more than there is memory
/// for.
int chains_at_once(int multiprocessors, std::size_t memory_left, std::size_t bytes_of_chain);

/// A chain goes to the device with the largest part of its places free, so that one which is quicker takes more of
/// them: its bits do not depend on which of equal devices that is.
class walk_places {
 public:
  /// Plans for chains of the order that a sweep has proposals for; `ranks` of this machine share each device. A
  /// runtime_failure where it has no memory for one of them.
  walk_places(const problem& p, const std::vector<gpu::device>& where, int ranks);

  bool empty() const { return places_.empty(); }
  /// On all devices at once.
  int chains() const;

  /// Holds a place while a chain is taken on; may be one more than there are.
  class visit {
   public:
    explicit visit(walk_places& to);
    ~visit();
    visit(const visit&) = delete;
    walk_place& operator*() const { return to_.places_[at_].place; }

   private:
    walk_places& to_;
    std::size_t at_;
  };

 private:
  struct one {
    one(const problem& p, gpu::device where, int chains) : place(p, where), chains(chains) {}
    walk_place place;
    int chains, under_way = 0;
  };
  std::mutex mutex_;
  std::deque<one> places_;
};

}  // namespace plaq::dca::device
