#include "plaq/dca/g4_ring.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/task/this_task.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

g4_ring::g4_ring(comm::messenger& messages, std::shared_ptr<const problem> p, std::vector<int> rank_of)
    : bins(rank_of.size()),
      messages_(messages),
      problem_(std::move(p)),
      rank_of_(std::move(rank_of)),
      functions_(problem_->parameters.beta, problem_->momenta, problem_->two_particle_frequencies,
                 problem_->g0_frequency),
      plane_(functions_.block() * std::size_t(functions_.sites()) * std::size_t(functions_.sites())) {
  for (const int rank : rank_of_)
    check(rank >= 0 && rank < messages_.size(), "g4_ring: a chain runs on a rank that is not there");
  check(rank_of_.size() <= std::size_t(comm::last_tag) + 1, "g4_ring: more chains than tags");
}

two_frequency::view g4_ring::spin(const packet& p, int side) const {
  const auto planes = std::span(p).subspan(head + std::size_t(side) * 2 * plane_, 2 * plane_);
  return {planes.first(plane_), planes.last(plane_)};
}

void g4_ring::take(int chain, const packet& p, two_particle_sums& sums) {
  switch (int(p[0])) {
    case measurement: {
      trace::region here("measure G4");
      return sums.accumulate(p[1], spin(p, 0), spin(p, 1));
    }
    case bin_begins: return sums.begin_bin();
    case bin_complete: return close_bin(chain, sums);
  }
}

void g4_ring::close_bin(int chain, two_particle_sums& sums) {
  auto share = sums.end_bin();
  for (const double x : share)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain) + " measured a pair function that is not finite");
  bins[std::size_t(chain)].push_back(std::move(share));
}

void g4_ring::follow(int chain) {
  two_particle_sums sums(*problem_, functions_, mine());
  const int origin = rank_of_[std::size_t(chain)], ranks = messages_.size();
  const int from = (messages_.rank() + ranks - 1) % ranks;
  const bool passes_on = next() != origin;
  std::array<packet, 2> packets{empty_packet(), empty_packet()};
  std::array<task::future<comm::status>, 2> coming, going;
  std::exception_ptr error;
  coming[0] = messages_.irecv(packets[0], from, chain);
  for (std::size_t here = 0;; here = 1 - here) {
    const std::size_t other = 1 - here;
    coming[here].get();
    const packet& p = packets[here];
    const bool last = int(p[0]) == end;
    if (going[other].valid()) going[other].get();
    if (!last) coming[other] = messages_.irecv(packets[other], from, chain);
    if (passes_on) going[here] = messages_.isend(p, next(), chain);
    if (!error) try {
        take(chain, p, sums);
      } catch (...) {  // what comes must still be passed on
        error = std::current_exception();
      }
    if (!last) continue;
    if (going[here].valid()) going[here].get();
    break;
  }
  if (error) std::rethrow_exception(error);
}

g4_ring::source::source(g4_ring& ring, int chain)
    : ring_(ring), chain_(chain), sums_(*ring.problem_, ring.functions_, ring.mine()) {
  if (ring_.messages_.size() > 1)
    for (packet& p : packets_) p = ring_.empty_packet();
}

g4_ring::source::~source() {
  if (ring_.messages_.size() == 1) return;
  try {
    next_packet(end, 0);
    send();
    for (auto& g : going_)
      if (g.valid()) g.get();
  } catch (const std::exception&) {  // who receives is gone; the job ends with that
  }
}

void g4_ring::source::begin_bin() {
  sums_.begin_bin();
  if (ring_.messages_.size() == 1) return;
  next_packet(bin_begins, 0);
  send();
}

void g4_ring::source::accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) {
  if (ring_.messages_.size() > 1) {
    packet& p = next_packet(measurement, weight);
    {
      trace::region here("pack G4");
      auto to = p.begin() + head;
      for (const auto* plane : {&up.re, &up.im, &down.re, &down.im}) to = std::ranges::copy(*plane, to).out;
    }
    send();
    task::this_task::yield();  // to those who follow other chains: a short message keeps nobody waiting
  }
  trace::region here("measure G4");
  sums_.accumulate(weight, up, down);
}

void g4_ring::source::end_bin() {
  ring_.close_bin(chain_, sums_);
  if (ring_.messages_.size() == 1) return;
  next_packet(bin_complete, 0);
  send();
}

/// The one that is not on its way; waits for the one before the last.
g4_ring::packet& g4_ring::source::next_packet(kind what, double weight) {
  turn_ = 1 - turn_;
  if (going_[turn_].valid()) going_[turn_].get();
  packet& p = packets_[turn_];
  p[0] = float(what);
  p[1] = float(weight);
  return p;
}

void g4_ring::source::send() { going_[turn_] = ring_.messages_.isend(packets_[turn_], ring_.next(), chain_); }

}  // namespace plaq::dca
