// Table of messages by sender and tag, each first in, first out. Posted receives and arrivals are matched in constant
// time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plaq::comm {

/// Entry of a table; it may be in one table at a time.
struct matched {
  struct links {
    matched* before = nullptr;
    matched* next = nullptr;
  };
  int peer = 0;
  int tag = 0;
  std::uint64_t number = 0;  ///< ascends in the order of insertion
  links same_sender = {};    ///< and tag
  links same_tag = {};
};

namespace detail {

/// Lists of entries with the same key, in rows by its hash.
template <matched::links matched::*in>
class hashed_lists {
 public:
  std::size_t rows() const { return rows_.size(); }
  void push(matched& e, std::uint64_t key) {
    row& r = rows_[row_of(key)];
    e.*in = {r.last, nullptr};
    (r.last ? (r.last->*in).next : r.first) = &e;
    r.last = &e;
  }
  void remove(matched& e, std::uint64_t key) {
    row& r = rows_[row_of(key)];
    const auto [before, next] = e.*in;
    (before ? (before->*in).next : r.first) = next;
    (next ? (next->*in).before : r.last) = before;
  }
  /// Returns the oldest entry of the key's row for which `is` holds, or null.
  template <class Is>
  matched* find(std::uint64_t key, Is&& is) const {
    if (rows_.empty()) return nullptr;
    for (matched* e = rows_[row_of(key)].first; e; e = (e->*in).next)
      if (is(*e)) return e;
    return nullptr;
  }
  template <class Visit>
  void each(Visit&& visit) const {
    for (const row& r : rows_)
      for (matched *e = r.first, *next = nullptr; e; e = next) {
        next = (e->*in).next;
        visit(*e);
      }
  }
  /// Sets the number of rows, a power of two. Entries of one key come from one row and keep their order.
  template <class Key>
  void resize(std::size_t rows, Key&& key) {
    std::vector<row> old(rows);
    old.swap(rows_);
    for (const row& r : old)
      for (matched *e = r.first, *next = nullptr; e; e = next) {
        next = (e->*in).next;
        push(*e, key(*e));
      }
  }

 private:
  struct row {
    matched* first = nullptr;
    matched* last = nullptr;
  };
  std::size_t row_of(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15u >> 32) & (rows_.size() - 1); }

  std::vector<row> rows_;
};

}  // namespace detail

/// Table of entries, found by sender and tag, or by tag.
template <class Entry>
class match_table {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(Entry& entry) {
    if (size_ >= by_sender_.rows()) {
      const std::size_t rows = size_ == 0 ? 16 : 2 * by_sender_.rows();
      by_sender_.resize(rows, sender_key);
      by_tag_.resize(rows, tag_key);
    }
    entry.number = pushed_++;
    by_sender_.push(entry, sender_key(entry));
    by_tag_.push(entry, tag_key(entry));
    ++size_;
  }

  /// Returns the oldest entry with this peer and tag, or null.
  Entry* find(int peer, int tag) const {
    if (size_ == 0) return nullptr;
    return static_cast<Entry*>(
        by_sender_.find(sender_key({peer, tag}), [&](const matched& e) { return e.peer == peer && e.tag == tag; }));
  }
  /// Returns the oldest entry with this tag, or null.
  Entry* find(int tag) const {
    if (size_ == 0) return nullptr;
    return static_cast<Entry*>(by_tag_.find(tag_key({0, tag}), [&](const matched& e) { return e.tag == tag; }));
  }
  void remove(Entry& entry) {
    by_sender_.remove(entry, sender_key(entry));
    by_tag_.remove(entry, tag_key(entry));
    --size_;
  }

  template <class Visit>
  void each(Visit&& visit) const {
    if (size_ > 0) by_sender_.each([&](matched& e) { visit(static_cast<Entry&>(e)); });
  }

 private:
  static std::uint64_t sender_key(const matched& e) {
    return std::uint64_t(std::uint32_t(e.peer)) << 32 | std::uint32_t(e.tag);
  }
  static std::uint64_t tag_key(const matched& e) { return std::uint32_t(e.tag); }

  detail::hashed_lists<&matched::same_sender> by_sender_;
  detail::hashed_lists<&matched::same_tag> by_tag_;
  std::size_t size_ = 0;
  std::uint64_t pushed_ = 0;
};

}  // namespace plaq::comm
