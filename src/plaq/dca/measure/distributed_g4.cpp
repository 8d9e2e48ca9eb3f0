#include "plaq/dca/measure/distributed_g4.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/task/this_task.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

g4_spread::g4_spread(comm::messenger& messages, const cluster_model& model, const measurement_list& measured,
                     std::vector<int> rank_of)
    : bins(rank_of.size()),
      messages_(messages),
      measured_(measured),
      rank_of_(std::move(rank_of)),
      functions_(model.parameters.beta, model.momenta, measured.two_particle_frequencies, measured.g0_frequency) {
  for (const int rank : rank_of_)
    check(rank >= 0 && rank < messages_.size(), "g4_spread: a chain runs on a rank that is not there");
  check(rank_of_.size() <= std::size_t(comm::last_tag) + 1, "g4_spread: more chains than tags");
  for (int rank = 0; rank < messages_.size(); ++rank) {
    const two_particle_sums sums(measured_, functions_, {rank, messages_.size()});
    rows_of_.emplace_back(sums.needed(), functions_.frequencies());
    direct_size_ = sums.direct_size();
  }
}

g4_spread::packet g4_spread::empty_packet(int rank) const {
  return packet(head + direct_size_ + 4 * rows_of_[std::size_t(rank)].size());
}

void g4_spread::take(int chain, const packet& p, two_particle_sums& sums) {
  switch (int(p[0])) {
    case measurement: {
      trace::region here("measure G4");
      const packed_rows& rows = rows_of_[std::size_t(messages_.rank())];
      const auto direct = std::span(p).subspan(head, direct_size_);
      const auto part = [&](std::size_t n) { return direct.data() + direct.size() + n * rows.size(); };
      return sums.accumulate(p[1], rows.view(part(0), part(1)), rows.view(part(2), part(3)), direct);
    }
    case bin_begins: return sums.begin_bin();
    case bin_complete: return close_bin(chain, sums);
  }
}

void g4_spread::close_bin(int chain, two_particle_sums& sums) {
  auto share = sums.end_bin();
  for (const double x : share)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain) + " measured a pair function that is not finite");
  bins[std::size_t(chain)].push_back(std::move(share));
}

void g4_spread::follow(int chain) {
  two_particle_sums sums(measured_, functions_, mine());
  const int origin = rank_of_[std::size_t(chain)];
  std::array<packet, 2> packets{empty_packet(messages_.rank()), empty_packet(messages_.rank())};
  std::array<task::future<comm::status>, 2> coming;
  std::exception_ptr error;
  coming[0] = messages_.irecv(packets[0], origin, chain);
  for (std::size_t here = 0;; here = 1 - here) {
    coming[here].get();
    if (int(packets[here][0]) == end) break;
    coming[1 - here] = messages_.irecv(packets[1 - here], origin, chain);
    const stopwatch watch;
    if (!error) try {
        take(chain, packets[here], sums);
      } catch (...) {  // the chain goes on for others: what it sends here has to be received
        error = std::current_exception();
      }
    follow_seconds += watch.seconds();
  }
  if (error) std::rethrow_exception(error);
}

g4_spread::source::source(g4_spread& spread, int chain)
    : spread_(spread), chain_(chain), sums_(spread.measured_, spread.functions_, spread.mine()) {
  // Every rank begins with the next one, so that not all send to the same at once.
  const int me = spread.messages_.rank(), ranks = spread.messages_.size();
  for (int step = 1; step < ranks; ++step) {
    const int rank = (me + step) % ranks;
    lanes_.push_back({rank, {spread.empty_packet(rank), spread.empty_packet(rank)}, {}});
  }
}

g4_spread::source::~source() {
  try {
    announce(end);
    for (lane& to : lanes_)
      for (auto& g : to.going)
        if (g.valid()) g.get();
  } catch (const std::exception&) {  // who receives is gone; the job ends with that
  }
}

void g4_spread::source::begin_bin() {
  sums_.begin_bin();
  announce(bin_begins);
}

void g4_spread::source::accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) {
  const auto direct = sums_.measure_direct(up, down);
  for (lane& to : lanes_) {
    packet& p = next_packet(to, measurement, weight);
    {
      trace::region here("pack G4");
      float* end = std::ranges::copy(direct, p.data() + head).out;
      for (const auto* plane : {&up.re, &up.im, &down.re, &down.im})
        end = spread_.rows_of_[std::size_t(to.rank)].pack(*plane, end);
    }
    send(to);
  }
  // To those who follow other chains: a short message keeps nobody waiting.
  if (!lanes_.empty()) {
    const stopwatch watch;
    task::this_task::yield();
    waited_ += watch.seconds();
  }
  trace::region here("measure G4");
  sums_.accumulate(weight, up, down, direct);
}

void g4_spread::source::end_bin() {
  spread_.close_bin(chain_, sums_);
  announce(bin_complete);
}

/// The one that is not on its way; waits for the one before the last.
g4_spread::packet& g4_spread::source::next_packet(lane& to, kind what, double weight) {
  to.turn = 1 - to.turn;
  if (to.going[to.turn].valid()) {
    const stopwatch watch;
    to.going[to.turn].get();
    waited_ += watch.seconds();
  }
  packet& p = to.packets[to.turn];
  p[0] = float(what);
  p[1] = float(weight);
  return p;
}

void g4_spread::source::send(lane& to) {
  to.going[to.turn] = spread_.messages_.isend(to.packets[to.turn], to.rank, chain_);
}

void g4_spread::source::announce(kind what) {
  for (lane& to : lanes_) {
    next_packet(to, what, 0);
    send(to);
  }
}

}  // namespace plaq::dca
