// Messages by sender and tag, each first in, first out: who posts a receive and what arrives find each other in a
// time that does not grow with their number.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plaq::comm {

/// What stands in a table; it may stand in one at a time.
struct matched {
  int peer = 0;
  int tag = 0;
  matched* next = nullptr;
};

template <class Entry>
class match_table {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(Entry& entry) {
    if (size_ >= rows_.size()) grow();
    append(entry);
    ++size_;
  }

  /// The oldest with this peer and tag, which leaves the table; nullptr if there is none.
  Entry* take(int peer, int tag) {
    if (size_ == 0) return nullptr;
    row& in = rows_[row_of(peer, tag)];
    matched* before = nullptr;
    for (matched* e = in.first; e; before = e, e = e->next) {
      if (e->peer != peer || e->tag != tag) continue;
      (before ? before->next : in.first) = e->next;
      if (in.last == e) in.last = before;
      e->next = nullptr;
      --size_;
      return static_cast<Entry*>(e);
    }
    return nullptr;
  }

  template <class Visit>
  void each(Visit&& visit) const {
    for (const row& in : rows_)
      for (matched *e = in.first, *next = nullptr; e; e = next) {
        next = e->next;
        visit(static_cast<Entry&>(*e));
      }
  }

 private:
  struct row {
    matched* first = nullptr;
    matched* last = nullptr;
  };

  std::size_t row_of(int peer, int tag) const {
    const auto key = (std::uint64_t(std::uint32_t(peer)) << 32 | std::uint32_t(tag)) * 0x9e3779b97f4a7c15u;
    return (key >> 32) & (rows_.size() - 1);
  }
  void append(matched& e) {
    row& in = rows_[row_of(e.peer, e.tag)];
    e.next = nullptr;
    (in.last ? in.last->next : in.first) = &e;
    in.last = &e;
  }
  void grow() {  // entries of one peer and tag come from one row and keep their order
    std::vector<row> old(rows_.empty() ? 16 : 2 * rows_.size());
    old.swap(rows_);
    for (const row& in : old)
      for (matched *e = in.first, *next = nullptr; e; e = next) {
        next = e->next;
        append(*e);
      }
  }

  std::vector<row> rows_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace plaq::comm
