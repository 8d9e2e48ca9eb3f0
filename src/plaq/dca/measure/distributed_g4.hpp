// Two-particle functions distributed over ranks: each rank sums its share of the rows for every chain, and receives the
// part of each measurement that its share depends on.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/comm/messages/messenger.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/measure/packed_rows.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

/// Share of one rank during one run of chains.
///
/// For every measurement of a chain (weight and both spins' G(k, k')) the rank that runs the chain sends each other
/// rank the rows that occur in products of its share, and the direct parts. Measurements of all chains are sent
/// concurrently; the tag is the chain's number. A share is summed like the whole function, measurement by measurement
/// in the chain's order, so its bits are the same.
class distributed_g4 {
 public:
  /// `rank_of[c]`: rank that runs chain c; equal on all ranks.
  ///
  /// Throws a runtime_failure for a rank outside the communicator or more chains than tags.
  distributed_g4(comm::messenger& messages, const cluster_model& model, const measurement_list& measured,
                 std::vector<int> rank_of);

  portion share() const { return {messages_.rank(), messages_.size()}; }
  int chains() const { return int(rank_of_.size()); }
  bool is_local(int chain) const { return rank_of_[std::size_t(chain)] == messages_.rank(); }

  /// Returns the bytes of a measurement for `rank`.
  std::size_t bytes_for(int rank) const { return empty_packet(rank).size() * sizeof(float); }

  class source;
  /// Sums the share of a chain of another rank until that chain ends. Runs as a task.
  ///
  /// Throws a runtime_failure where a sum is not finite, after the chain has ended.
  void sum_remote(int chain);

  /// [chain][bin] shares of the complete bins, in the layout share_of(..., share()).
  std::vector<std::vector<std::vector<double>>> bins;
  /// Seconds of summing measurements of other ranks' chains.
  std::atomic<double> remote_seconds = 0;

 private:
  enum packet_kind : int { measurement, bin_begins, bin_complete, end };
  /// Message: its packet_kind, the weight, direct parts of channels, rows of up (real, imaginary), rows of down.
  using packet = std::vector<float>;
  static constexpr std::size_t head = 2;

  packet empty_packet(int rank) const;
  /// Applies a packet to the sums.
  void apply(int chain, const packet& p, two_particle_sums& sums);
  void close_bin(int chain, two_particle_sums& sums);

  comm::messenger& messages_;
  measurement_list measured_;
  std::vector<int> rank_of_;
  two_frequency functions_;           // for its tables
  std::vector<packed_rows> rows_of_;  // by rank
  std::size_t direct_size_ = 0;
};

/// Receiver of the measurements of a local chain. Its destructor tells the other ranks that the chain has ended.
class distributed_g4::source final : public two_particle_sink {
 public:
  source(distributed_g4& shares, int chain);
  ~source();
  source(const source&) = delete;
  void begin_bin() override;
  void accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) override;
  void end_bin() override;
  double waiting_seconds() const override { return waiting_seconds_; }

 private:
  /// Messages to one rank: one is packed while the previous one is in flight.
  struct outbox {
    int rank;
    std::array<packet, 2> packets;
    std::array<task::future<comm::status>, 2> sends;
    std::size_t current = 0;
  };
  packet& next_packet(outbox& to, packet_kind kind, double weight);
  void send(outbox& to);
  void send_marker(packet_kind kind);

  distributed_g4& shares_;
  const int chain_;
  two_particle_sums sums_;
  std::vector<outbox> outboxes_;
  double waiting_seconds_ = 0;
};

}  // namespace plaq::dca
