// Two-particle functions spread over ranks: each rank sums its share of every chain's, and gets of what the chains
// measure the part that its share needs.
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

/// One rank's part of it during one run of chains. Of every measurement of a chain (weight and both spins'
/// G(k, k')) the rank that runs the chain sends each other rank the rows that are in products of its share, and
/// the direct parts. All chains' measurements travel at once, the tag is the chain's number. A share is summed as
/// the whole would be, measurement by measurement in the chain's order: the same bits.
class g4_spread {
 public:
  /// `rank_of[c]` runs chain c; the same on all ranks.
  g4_spread(comm::messenger& messages, const cluster_model& model, const measurement_list& measured,
            std::vector<int> rank_of);

  portion mine() const { return {messages_.rank(), messages_.size()}; }
  int chains() const { return int(rank_of_.size()); }
  bool runs_here(int chain) const { return rank_of_[std::size_t(chain)] == messages_.rank(); }

  /// Bytes of a measurement for `rank`.
  std::size_t bytes_for(int rank) const { return empty_packet(rank).size() * sizeof(float); }

  class source;
  /// Sums the share of a chain that runs elsewhere until that ends. To be called as a task.
  void follow(int chain);

  /// [chain][bin] shares of the bins that were completed, laid out as share_of says for mine().
  std::vector<std::vector<std::vector<double>>> bins;
  /// Of summing what chains of other ranks measured.
  std::atomic<double> follow_seconds = 0;

 private:
  enum kind : int { measurement, bin_begins, bin_complete, end };
  /// A message: what it is, the weight, direct parts of channels, rows of up (real, imaginary), rows of down.
  using packet = std::vector<float>;
  static constexpr std::size_t head = 2;

  packet empty_packet(int rank) const;
  /// What a packet means for the sums.
  void take(int chain, const packet& p, two_particle_sums& sums);
  void close_bin(int chain, two_particle_sums& sums);

  comm::messenger& messages_;
  measurement_list measured_;
  std::vector<int> rank_of_;
  two_frequency functions_;           // for the tables in it
  std::vector<packed_rows> rows_of_;  // by rank
  std::size_t direct_size_ = 0;
};

/// Where a chain that runs here hands in its measurements. When it goes, the others know that the chain has ended.
class g4_spread::source final : public two_particle_sink {
 public:
  source(g4_spread& spread, int chain);
  ~source();
  source(const source&) = delete;
  void begin_bin() override;
  void accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) override;
  void end_bin() override;
  double waited() const override { return waited_; }

 private:
  /// To one rank: one message is packed while the one before is on its way.
  struct lane {
    int rank;
    std::array<packet, 2> packets;
    std::array<task::future<comm::status>, 2> going;
    std::size_t turn = 0;
  };
  packet& next_packet(lane& to, kind what, double weight);
  void send(lane& to);
  void announce(kind what);

  g4_spread& spread_;
  const int chain_;
  two_particle_sums sums_;
  std::vector<lane> lanes_;
  double waited_ = 0;
};

}  // namespace plaq::dca
