#include "plaq/collection/balance/load_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::balance {

void validate(const load_distribution& s) {
  const auto refuse = [](const std::string& why) { throw input_error("balance: " + why); };
  if (s.ranks < 1 || s.ranks_per_node < 1) refuse("ranks and ranks_per_node must be at least 1");
  const auto need_length = [&](const char* what, std::size_t has, bool may_be_empty) {
    if (has != s.size() && !(may_be_empty && has == 0))
      refuse("there are " + std::to_string(s.size()) + " loads and " + std::to_string(has) + " " + what);
  };
  need_length("ranks of elements", s.rank_of.size(), false);
  need_length("sizes", s.sizes.size(), true);
  need_length("positions", s.positions.size(), true);
  need_length("points", s.points.size(), true);
  const auto in_words = [](double x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  const auto need_numbers = [&](const char* what, const char* all, const std::vector<double>& numbers) {
    double sum = 0;
    for (const double x : numbers) {
      if (!(x >= 0 && x < too_much)) refuse(what + in_words(x) + "; it must be 0 or more");
      sum += x;
    }
    if (!(sum < too_much)) refuse(all + in_words(sum) + ", which is " + in_words(too_much) + " or more");
  };
  need_numbers("a load is ", "all loads are ", s.loads);
  need_numbers("a size in bytes is ", "all sizes in bytes are ", s.sizes);
  if (!(s.most_bytes >= 0)) refuse("most_bytes is negative");
  for (const int rank : s.rank_of)
    if (rank < 0 || rank >= s.ranks)
      refuse("an element is on rank " + std::to_string(rank) + " of " + std::to_string(s.ranks));
  double weights = 0;
  for (const edge& e : s.edges) {
    if (e.a >= s.size() || e.b >= s.size() || !(e.weight >= 0))
      refuse("an edge has an end that is not an element, or a negative weight");
    weights += e.weight;
  }
  if (!(weights < too_much)) refuse("all weights of edges are " + in_words(weights) + ", which is too large");
  for (const auto& point : s.points)
    for (const double x : point)
      if (!std::isfinite(x)) refuse("a point has a coordinate that is not finite");
}

totals::totals(const load_distribution& s, const plan& to) : load(std::size_t(s.ranks)), bytes(std::size_t(s.ranks)) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    load[std::size_t(to[i])] += s.loads[i];
    bytes[std::size_t(to[i])] += s.bytes_of(i);
  }
}

void totals::move(const load_distribution& s, std::size_t i, int from, int to) {
  load[std::size_t(from)] -= s.loads[i];
  load[std::size_t(to)] += s.loads[i];
  bytes[std::size_t(from)] -= s.bytes_of(i);
  bytes[std::size_t(to)] += s.bytes_of(i);
}

bool totals::has_room(const load_distribution& s, std::size_t i, int rank) const {
  return bytes[std::size_t(rank)] + s.bytes_of(i) <= s.most_bytes;
}

double totals::highest() const { return *std::ranges::max_element(load); }

plan_quality evaluate(const load_distribution& s, const plan& to) {
  plan_quality out;
  out.highest = totals(s, to).highest();
  out.mean = std::accumulate(s.loads.begin(), s.loads.end(), 0.0) / s.ranks;
  for (std::size_t i = 0; i < s.size(); ++i) {
    out.largest = std::max(out.largest, s.loads[i]);
    if (to[i] == s.rank_of[i]) continue;
    ++out.moved;
    out.moved_bytes += s.bytes_of(i);
  }
  for (const edge& e : s.edges)
    if (to[e.a] != to[e.b]) out.cut += e.weight;
  return out;
}

}  // namespace plaq::balance
