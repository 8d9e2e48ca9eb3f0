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

distributed_g4::distributed_g4(comm::messenger& messages, const cluster_model& model, const measurement_list& measured,
                               std::vector<int> rank_of)
    : bins(rank_of.size()),
      messages_(messages),
      measured_(measured),
      rank_of_(std::move(rank_of)),
      functions_(model.parameters.beta, model.momenta, measured.two_particle_frequencies, measured.g0_frequency) {
  for (const int rank : rank_of_)
    check(rank >= 0 && rank < messages_.size(), "distributed_g4: a chain runs on a rank that does not exist");
  check(rank_of_.size() <= std::size_t(comm::last_tag) + 1, "distributed_g4: more chains than tags");
  for (int rank = 0; rank < messages_.size(); ++rank) {
    const two_particle_sums sums(measured_, functions_, {rank, messages_.size()});
    rows_of_.emplace_back(sums.needed(), functions_.frequencies());
    direct_size_ = sums.direct_size();
  }
}

distributed_g4::packet distributed_g4::empty_packet(int rank) const {
  return packet(head + direct_size_ + 4 * rows_of_[std::size_t(rank)].size());
}

void distributed_g4::apply(int chain, const packet& p, two_particle_sums& sums) {
  switch (int(p[0])) {
    case measurement: {
      trace::region scope("measure G4");
      const packed_rows& rows = rows_of_[std::size_t(messages_.rank())];
      const auto direct = std::span(p).subspan(head, direct_size_);
      const auto part = [&](std::size_t n) { return direct.data() + direct.size() + n * rows.size(); };
      return sums.accumulate(p[1], rows.view(part(0), part(1)), rows.view(part(2), part(3)), direct);
    }
    case bin_begins: return sums.begin_bin();
    case bin_complete: return close_bin(chain, sums);
  }
}

void distributed_g4::close_bin(int chain, two_particle_sums& sums) {
  auto share = sums.end_bin();
  for (const double x : share)
    if (!std::isfinite(x))
      throw runtime_failure("chain " + std::to_string(chain) + " measured a pair function that is not finite");
  bins[std::size_t(chain)].push_back(std::move(share));
}

void distributed_g4::sum_remote(int chain) {
  two_particle_sums sums(measured_, functions_, share());
  const int origin = rank_of_[std::size_t(chain)];
  std::array<packet, 2> packets{empty_packet(messages_.rank()), empty_packet(messages_.rank())};
  std::array<task::future<comm::status>, 2> receives;
  std::exception_ptr error;
  receives[0] = messages_.irecv(packets[0], origin, chain);
  for (std::size_t at = 0;; at = 1 - at) {
    receives[at].get();
    if (int(packets[at][0]) == end) break;
    receives[1 - at] = messages_.irecv(packets[1 - at], origin, chain);
    const stopwatch watch;
    if (!error) try {
        apply(chain, packets[at], sums);
      } catch (...) {  // the chain continues for others: its messages have to be received
        error = std::current_exception();
      }
    remote_seconds += watch.seconds();
  }
  if (error) std::rethrow_exception(error);
}

distributed_g4::source::source(distributed_g4& shares, int chain)
    : shares_(shares), chain_(chain), sums_(shares.measured_, shares.functions_, shares.share()) {
  // Every rank begins with the next rank, so that not all send to one rank at once.
  const int me = shares.messages_.rank(), ranks = shares.messages_.size();
  for (int step = 1; step < ranks; ++step) {
    const int rank = (me + step) % ranks;
    outboxes_.push_back({rank, {shares.empty_packet(rank), shares.empty_packet(rank)}, {}});
  }
}

distributed_g4::source::~source() {
  try {
    send_marker(end);
    for (outbox& to : outboxes_)
      for (auto& g : to.sends)
        if (g.valid()) g.get();
  } catch (const std::exception&) {  // the receiver has failed, which ends the job
  }
}

void distributed_g4::source::begin_bin() {
  sums_.begin_bin();
  send_marker(bin_begins);
}

void distributed_g4::source::accumulate(double weight, const two_frequency::planes& up,
                                        const two_frequency::planes& down) {
  const auto direct = sums_.measure_direct(up, down);
  for (outbox& to : outboxes_) {
    packet& p = next_packet(to, measurement, weight);
    {
      trace::region scope("pack G4");
      float* end = std::ranges::copy(direct, p.data() + head).out;
      for (const auto* plane : {&up.re, &up.im, &down.re, &down.im})
        end = shares_.rows_of_[std::size_t(to.rank)].pack(*plane, end);
    }
    send(to);
  }
  // Yields to the tasks that sum other chains, so that no rank waits for a short message.
  if (!outboxes_.empty()) {
    const stopwatch watch;
    task::this_task::yield();
    waiting_seconds_ += watch.seconds();
  }
  trace::region scope("measure G4");
  sums_.accumulate(weight, up, down, direct);
}

void distributed_g4::source::end_bin() {
  shares_.close_bin(chain_, sums_);
  send_marker(bin_complete);
}

/// Returns the packet that is not in flight; waits for the last but one.
distributed_g4::packet& distributed_g4::source::next_packet(outbox& to, packet_kind kind, double weight) {
  to.current = 1 - to.current;
  if (to.sends[to.current].valid()) {
    const stopwatch watch;
    to.sends[to.current].get();
    waiting_seconds_ += watch.seconds();
  }
  packet& p = to.packets[to.current];
  p[0] = float(kind);
  p[1] = float(weight);
  return p;
}

void distributed_g4::source::send(outbox& to) {
  to.sends[to.current] = shares_.messages_.isend(to.packets[to.current], to.rank, chain_);
}

void distributed_g4::source::send_marker(packet_kind kind) {
  for (outbox& to : outboxes_) {
    next_packet(to, kind, 0);
    send(to);
  }
}

}  // namespace plaq::dca
