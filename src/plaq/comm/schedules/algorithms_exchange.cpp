// Collective algorithms in which all ranks exchange at the same time.
#include <bit>
#include <utility>

#include "plaq/comm/schedules/algorithm_parts.hpp"

namespace plaq::comm {

namespace {

/// One round of a butterfly: the blocks that exchange, and the peers of this rank. Member d of a block sends to the
/// members d, d + size, ... of each sibling, which works for any number of ranks: the last block may be shorter.
struct exchange {
  range own;
  struct sibling {
    range block;
    int from;             ///< peer that sends the value of this sibling
    std::vector<int> to;  ///< peers in it that this rank sends to
  };
  std::vector<sibling> siblings;
};

std::vector<exchange> butterfly(const algorithm_context& s) {
  // The binary tree of the fixed order allows powers of two only.
  const std::int64_t arity = s.wanted.fixed_order ? std::bit_floor(unsigned(s.by.arity)) : s.by.arity;
  const std::int64_t ranks = s.size();
  std::vector<exchange> rounds;
  for (std::int64_t length = 1; length < ranks; length *= arity) {
    const auto block = [&](std::int64_t begin) { return range{int(begin), int(std::min(begin + length, ranks))}; };
    exchange round{block(s.me / length * length), {}};
    const int d = s.me - round.own.begin;
    const std::int64_t all = s.me / (length * arity) * (length * arity);
    for (std::int64_t begin = all; begin < std::min(all + length * arity, ranks); begin += length) {
      if (begin == round.own.begin) continue;
      exchange::sibling other{block(begin), 0, {}};
      other.from = other.block.begin + d % other.block.size();
      for (int to = other.block.begin + d; to < other.block.end; to += round.own.size()) other.to.push_back(to);
      round.siblings.push_back(std::move(other));
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

/// One round of the halving: the shares that this rank and its partner keep.
struct halving_round {
  int partner;
  int kept_begin, kept_end;    ///< shares that this rank keeps
  int given_begin, given_end;  ///< shares that the partner keeps
};

std::vector<halving_round> halvings(int me, int ranks) {
  std::vector<halving_round> rounds;
  int begin = 0, end = ranks;
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int middle = (begin + end) / 2, partner = me ^ distance;
    if (me < partner)
      rounds.push_back({partner, begin, middle, middle, end});
    else
      rounds.push_back({partner, middle, end, begin, middle});
    begin = rounds.back().kept_begin;
    end = rounds.back().kept_end;
  }
  return rounds;
}

/// Each rank sends its contributions, blocks of `from` that begin at at(0), at(1), ..., to the ranks of their numbers,
/// and combines those of its own block in `to`.
template <class At>
void combine_own_block(const algorithm_context& s, location from, At at, location to) {
  const int p = s.size();
  const auto length = [&](int i) { return at(i + 1) - at(i); };
  const std::size_t n = length(s.me);
  const location rooms = s.steps.allocate(n * std::size_t(p));
  std::vector<part_of_sum> parts;
  for (int i = 0; i < p; ++i) {
    const location slot = i == s.me ? from + at(s.me) : rooms + std::size_t(i) * n;
    if (i != s.me) s.receive(i, slot, n);
    parts.push_back({i, i + 1, slot, slot.where != memory::input});
  }
  for (int i = 1; i < p; ++i) s.send((s.me + i) % p, from + at((s.me + i) % p), length((s.me + i) % p));
  if (n > 0) merge(s.steps, s.summation(), std::move(parts), n, to);
}

}  // namespace

void all_reduce_by_butterfly(const algorithm_context& s) {
  const std::size_t n = s.wanted.bytes;
  const auto how = s.summation();
  const auto rounds = butterfly(s);
  // The result of one round is sent in the next, so it must not be overwritten there: two buffers alternate, and the
  // last round ends in the output.
  const location spare = rounds.size() > 1 ? s.steps.allocate(n) : location{};
  location value = s.output();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const auto& round = rounds[i];
    std::vector<part_of_sum> parts{{round.own.begin, round.own.end, value, false}};
    std::vector<location> slots;
    for (const auto& other : round.siblings) {
      slots.push_back(s.steps.allocate(n));
      s.receive(other.from, slots.back(), n);
      parts.push_back({other.block.begin, other.block.end, slots.back(), true});
    }
    for (const auto& other : round.siblings)
      for (const int to : other.to) s.send(to, value, n);
    if (round.siblings.empty()) continue;
    const bool last = i + 1 == rounds.size();
    const location target = last || value == spare ? s.output() : spare;
    value = merge(s.steps, how, std::move(parts), n, target)[0].at;
  }
  s.steps.copy(s.output(), value, n);
}

void all_reduce_by_halving(const algorithm_context& s) {
  const std::size_t n = s.wanted.bytes;
  const int ranks = int(std::bit_floor(unsigned(s.size()))), extra = s.size() - ranks;
  // Ranks beyond a power of two send their values first and receive the result at the end.
  if (s.me >= ranks) {
    s.send(s.me - ranks, s.output(), n);
    return s.receive(s.me - ranks, s.output(), n);
  }
  const location room = s.steps.allocate(n);
  if (s.me < extra) {
    s.receive(s.me + ranks, room, n);
    s.steps.combine(s.output(), s.output(), room, n);
  }
  const auto rounds = halvings(s.me, ranks);
  const auto at = [&](int i) { return s.share(i, ranks); };
  for (const auto& r : rounds) {
    const std::size_t kept = at(r.kept_end) - at(r.kept_begin), given = at(r.given_end) - at(r.given_begin);
    const location own = s.output(at(r.kept_begin)), received = room + at(r.kept_begin);
    s.receive(r.partner, received, kept);
    s.send(r.partner, s.output(at(r.given_begin)), given);
    s.me < r.partner ? s.steps.combine(own, own, received, kept) : s.steps.combine(own, received, own, kept);
  }
  for (auto r = rounds.rbegin(); r != rounds.rend(); ++r) {
    s.send(r->partner, s.output(at(r->kept_begin)), at(r->kept_end) - at(r->kept_begin));
    s.receive(r->partner, s.output(at(r->given_begin)), at(r->given_end) - at(r->given_begin));
  }
  if (s.me < extra) s.send(s.me + ranks, s.output(), n);
}

void all_reduce_by_ring(const algorithm_context& s) {
  const int p = s.size(), left = (s.me + p - 1) % p, right = (s.me + 1) % p;
  const auto at = [&](int i) { return s.share(i, p); };
  const auto length = [&](int i) { return at(i + 1) - at(i); };
  const std::size_t longest = s.wanted.bytes / p + s.wanted.grain;
  const location rooms[2] = {s.steps.allocate(longest), s.steps.allocate(longest)};
  for (int i = 0; i < p - 1; ++i) {
    const int given = (s.me + p - i) % p, taken = (given + p - 1) % p;
    s.receive(left, rooms[i % 2], length(taken));
    s.send(right, s.output(at(given)), length(given));
    s.steps.combine(s.output(at(taken)), rooms[i % 2], s.output(at(taken)), length(taken));
  }
  for (int i = 0; i < p - 1; ++i) {
    const int given = (s.me + 1 + p - i) % p, taken = (given + p - 1) % p;
    s.send(right, s.output(at(given)), length(given));
    s.receive(left, s.output(at(taken)), length(taken));
  }
}

void all_reduce_directly(const algorithm_context& s) {
  const int p = s.size();
  const auto at = [&](int i) { return s.share(i, p); };
  const auto length = [&](int i) { return at(i + 1) - at(i); };
  const std::size_t n = length(s.me);
  const location own = s.output(at(s.me));
  combine_own_block(s, s.output(), at, own);
  for (int i = 1; i < p; ++i) {
    const int from = (s.me + p - i) % p;
    s.receive(from, s.output(at(from)), length(from));
    s.send((s.me + i) % p, own, n);
  }
}

void reduce_scatter_directly(const algorithm_context& s) {
  combine_own_block(s, s.input(), [&](int i) { return s.block(i); }, s.output());
}

void all_gather_by_butterfly(const algorithm_context& s) {
  const auto bytes = [&](range r) { return std::size_t(r.size()) * s.wanted.bytes; };
  const auto copy_own = [&] { s.steps.copy(s.output(s.block(s.me)), s.input(), s.wanted.bytes); };
  bool is_first = true;
  for (const auto& round : butterfly(s)) {
    for (const auto& other : round.siblings) {
      s.receive(other.from, s.output(s.block(other.block.begin)), bytes(other.block));
      for (const int to : other.to)
        s.send(to, is_first ? s.input() : s.output(s.block(round.own.begin)), bytes(round.own));
    }
    if (is_first) copy_own();  // while the first messages are in flight
    is_first = false;
  }
  if (is_first) copy_own();
}

void all_gather_by_ring(const algorithm_context& s) {
  const int p = s.size();
  const std::size_t n = s.wanted.bytes;
  for (int i = 0; i < p - 1; ++i) {
    s.receive((s.me + p - 1) % p, s.output(s.block((s.me + 2 * p - i - 1) % p)), n);
    s.send((s.me + 1) % p, i == 0 ? s.input() : s.output(s.block((s.me + p - i) % p)), n);
  }
  s.steps.copy(s.output(s.block(s.me)), s.input(), n);  // while the first messages are in flight
}

void all_gather_directly(const algorithm_context& s) {
  const int p = s.size();
  const std::size_t n = s.wanted.bytes;
  for (int i = 1; i < p; ++i) {
    const int from = (s.me + p - i) % p;
    s.receive(from, s.output(s.block(from)), n);
    s.send((s.me + i) % p, s.input(), n);
  }
  s.steps.copy(s.output(s.block(s.me)), s.input(), n);
}

void all_to_all_directly(const algorithm_context& s) {
  const int p = s.size();
  const std::size_t n = s.wanted.bytes;
  for (int i = 1; i < p; ++i) {
    const int from = (s.me + p - i) % p, to = (s.me + i) % p;
    s.receive(from, s.output(s.block(from)), n);
    s.send(to, s.input(s.block(to)), n);
  }
  s.steps.copy(s.output(s.block(s.me)), s.input(s.block(s.me)), n);
}

void all_to_all_by_bruck(const algorithm_context& s) {
  const int p = s.size();
  const std::int64_t arity = s.by.arity;
  const std::size_t n = s.wanted.bytes;
  // Block i of `blocks` is on its way to the rank at distance i.
  const location blocks = s.steps.allocate(n * std::size_t(p));
  s.steps.copy(blocks, s.input(s.block(s.me)), n * std::size_t(p - s.me));
  s.steps.copy(blocks + s.block(p - s.me), s.input(), n * std::size_t(s.me));
  for (std::int64_t length = 1; length < p; length *= arity)
    for (std::int64_t digit = 1; digit < arity && digit * length < p; ++digit) {
      // Runs of blocks whose distance has this digit travel the distance `digit * length`.
      std::vector<range> runs;
      int count = 0;
      for (std::int64_t begin = digit * length; begin < p; begin += length * arity) {
        runs.push_back({int(begin), int(std::min<std::int64_t>(begin + length, p))});
        count += runs.back().size();
      }
      const int to = int((s.me + digit * length) % p), from = int((s.me + p - digit * length) % p);
      const location packed = s.steps.allocate(n * count), arrived = s.steps.allocate(n * count);
      s.receive(from, arrived, n * count);
      std::size_t at = 0;
      for (const auto& run : runs) {
        s.steps.copy(packed + at, blocks + s.block(run.begin), n * run.size());
        at += n * run.size();
      }
      s.send(to, packed, n * count);
      at = 0;
      for (const auto& run : runs) {
        s.steps.copy(blocks + s.block(run.begin), arrived + at, n * run.size());
        at += n * run.size();
      }
    }
  for (int i = 0; i < p; ++i) s.steps.copy(s.output(s.block((s.me + p - i) % p)), blocks + s.block(i), n);
}

void scan_by_doubling(const algorithm_context& s) {
  const std::size_t n = s.wanted.bytes;
  // An exclusive scan is the inclusive one of the neighbours' values among ranks 1, 2, ...
  const int first = s.wanted.what == collective::exclusive_scan ? 1 : 0;
  if (first == 1) {
    if (s.me + 1 < s.size()) s.send(s.me + 1, s.output(), n);
    if (s.me == 0) return;
    s.receive(s.me - 1, s.output(), n);
  }
  const int me = s.me - first, ranks = s.size() - first;
  for (int distance = 1; distance < ranks; distance *= 2) {
    if (me + distance < ranks) s.send(s.me + distance, s.output(), n);
    if (me < distance) continue;
    const location room = s.steps.allocate(n);
    s.receive(s.me - distance, room, n);
    s.steps.combine(s.output(), room, s.output(), n);
  }
}

}  // namespace plaq::comm
