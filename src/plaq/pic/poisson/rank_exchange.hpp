// Exchange of numbers between all ranks.
#pragma once
#include <utility>
#include <vector>

#include "plaq/comm/messages/messenger.hpp"

namespace plaq::pic {

/// All-to-all exchange of lists of numbers of any length.
class rank_exchange {
 public:
  using numbers = std::vector<double>;
  explicit rank_exchange(const comm::communicator& over) : messages_(over) {}

  /// Returns the list that each rank has for this one. Collective; `to` has a list for every rank.
  std::vector<numbers> operator()(std::vector<numbers> to) {
    const int rank = messages_.rank(), tag = ++round_ % 1024;  // so that messages of two rounds are never confused
    std::vector<task::future<numbers>> receiving;
    std::vector<task::future<comm::status>> sending;
    for (int r = 0; r < messages_.size(); ++r) {
      if (r == rank) continue;
      receiving.push_back(messages_.irecv_object<numbers>(r, tag));
      sending.push_back(messages_.isend_object(to[std::size_t(r)], r, tag));
    }
    std::vector<numbers> received(to.size());
    received[std::size_t(rank)] = std::move(to[std::size_t(rank)]);
    auto next = receiving.begin();
    for (int r = 0; r < messages_.size(); ++r)
      if (r != rank) received[std::size_t(r)] = (next++)->get();
    for (auto& sent : sending) sent.get();
    return received;
  }
  /// Returns the list of each rank, on all ranks. Collective.
  std::vector<numbers> gather_all(const numbers& own) {
    return (*this)(std::vector<numbers>(std::size_t(messages_.size()), own));
  }

 private:
  comm::messenger messages_;
  int round_ = 0;
};

}  // namespace plaq::pic
