// Numbers from every rank to every other, as many as each has for each.
#pragma once
#include <utility>
#include <vector>

#include "plaq/comm/messages/messenger.hpp"

namespace plaq::pic {

class exchange {
 public:
  using numbers = std::vector<double>;
  explicit exchange(const comm::communicator& over) : messages_(over) {}

  /// Collective: what each rank has for this one. `to` has an entry for every rank.
  std::vector<numbers> operator()(std::vector<numbers> to) {
    const int me = messages_.rank(),
              tag = ++turn_ % 1024;  // a turn's messages meet no others, in whatever order they come
    std::vector<task::future<numbers>> coming;
    std::vector<task::future<comm::status>> going;
    for (int r = 0; r < messages_.size(); ++r) {
      if (r == me) continue;
      coming.push_back(messages_.irecv_object<numbers>(r, tag));
      going.push_back(messages_.isend_object(to[std::size_t(r)], r, tag));
    }
    std::vector<numbers> came(to.size());
    came[std::size_t(me)] = std::move(to[std::size_t(me)]);
    auto next = coming.begin();
    for (int r = 0; r < messages_.size(); ++r)
      if (r != me) came[std::size_t(r)] = (next++)->get();
    for (auto& one : going) one.get();
    return came;
  }
  /// Collective: what each rank has, on all of them.
  std::vector<numbers> all(const numbers& mine) {
    return (*this)(std::vector<numbers>(std::size_t(messages_.size()), mine));
  }

 private:
  comm::messenger messages_;
  int turn_ = 0;
};

}  // namespace plaq::pic
