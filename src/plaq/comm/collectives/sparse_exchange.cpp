// Senders of a sparse exchange: headers are routed along the bits of their distance.
#include <algorithm>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"

namespace plaq::comm {

namespace {

/// Block that is on its way: its sender, its receiver, and its length in values.
struct header {
  int from, to;
  std::size_t count;
};

}  // namespace

std::vector<neighbour> collectives::senders_of(const std::vector<neighbour>& to) {
  const int p = size(), me = rank();
  std::vector<header> here;
  for (const auto& b : to) {
    if (b.rank < 0 || b.rank >= p)
      throw input_error("there is no rank " + std::to_string(b.rank) + " among " + std::to_string(p));
    if (b.count > 0) here.push_back({me, b.rank, b.count});
  }
  // A header at distance d from its receiver moves on by the bits of d, the lowest first, so all headers of one pair of
  // ranks take the same way and keep their order.
  for (int bit = 1; bit < p; bit *= 2) {
    const auto stays = [&](const header& h) { return ((h.to - me + p) % p & bit) == 0; };
    const auto first_to_go = std::ranges::stable_partition(here, stays).begin();
    const std::vector<header> going(first_to_go, here.end());
    here.erase(first_to_go, here.end());
    const int next = (me + bit) % p, previous = (me + p - bit) % p;
    const std::vector<std::size_t> number{going.size()};
    std::vector<std::size_t> coming(1);
    iexchange(number, {{next, 1}}, coming, {{previous, 1}}).get();
    std::vector<header> arrived(coming[0]);
    iexchange(going, {{next, going.size()}}, arrived, {{previous, coming[0]}}).get();
    here.insert(here.end(), arrived.begin(), arrived.end());
  }
  std::ranges::stable_sort(here, {}, &header::from);
  std::vector<neighbour> senders;
  for (const auto& h : here) senders.push_back({h.from, h.count});
  return senders;
}

}  // namespace plaq::comm
