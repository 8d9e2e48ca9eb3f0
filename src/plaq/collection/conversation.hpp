// A balancing without a rank that knows all loads: the rounds of balance::talk, between the hosts of a collection.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balance/talk.hpp"
#include "plaq/collection/letters.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Of one rank to another, in a round of the balancing that step `at` is.
struct word {
  enum kind : int {
    says,    ///< something; it is answered by
    got_it,  ///< so that who has said it knows that it is there
    up,      ///< what a rank, and all below it in the tree, come to; all that they said is there
    down     ///< what all come to: the next round
  };
  number at = 0;
  int round = 0, what = says, from = 0;
  balance::together sum = {};
  balance::said said = {};
  void serialize(archive& ar) { ar(at, round, what, from, sum, said); }
};

/// This rank's part of one. A round is over when all that was said in it has come, which a tree of ranks finds
/// out; so what a rank hears in a round depends on no order.
class conversation {
 public:
  using post = std::function<void(const word&, int rank)>;
  using done = std::function<void(const balance::talk&)>;

  conversation(number at, int rank, int ranks, post to) : at_(at), rank_(rank), ranks_(ranks), post_(std::move(to)) {}

  /// When this rank's elements wait; `over` is called at the end. Words of other ranks may have come before.
  void begin(balance::talk mine, balance::method by, const std::function<int(key)>& home, done over);
  void heard(word&& of);

 private:
  struct round {
    std::vector<balance::said> heard = {};
    std::size_t under_way = 0;  ///< said by this rank, and not there yet
    std::array<std::optional<balance::together>, 2> below = {};
    bool told = false;  ///< the rank above
    std::optional<balance::together> all = {};
  };
  void go_on(std::unique_lock<task::mutex>& lock);

  const number at_;
  const int rank_, ranks_;
  const post post_;
  task::mutex guard_;
  std::optional<balance::talk> mine_;
  std::optional<balance::speech> speech_;
  done over_;
  int round_ = -1;
  std::map<int, round> rounds_;
};

}  // namespace plaq::elements
