// Two-particle functions spread over ranks: each rank sums its share of every chain's, and what the chains measure
// travels round the ring of ranks.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plaq/comm/messenger.hpp"
#include "plaq/dca/accumulator.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/dca/two_particle_sums.hpp"

namespace plaq::dca {

/// One rank's part of it during one run of chains. Every measurement of a chain (weight and both spins' G(k, k'))
/// starts at the rank that runs the chain and visits the others in order, one message to the next rank; while one
/// is added here the next is under way. All chains' measurements travel at once, the tag is the chain's number. A
/// share is summed as the whole would be, measurement by measurement in the chain's order: the same bits.
class g4_ring {
 public:
  /// `rank_of[c]` runs chain c; the same on all ranks.
  g4_ring(comm::messenger& messages, std::shared_ptr<const problem> p, std::vector<int> rank_of);

  portion mine() const { return {messages_.rank(), messages_.size()}; }
  int chains() const { return int(rank_of_.size()); }
  bool runs_here(int chain) const { return rank_of_[std::size_t(chain)] == messages_.rank(); }

  class source;
  /// Sums the share of a chain that runs elsewhere until that ends. To be called as a task.
  void follow(int chain);

  /// [chain][bin] shares of the bins that were completed, laid out as two_particle_layout(p, mine()) says.
  std::vector<std::vector<std::vector<double>>> bins;

 private:
  enum kind : int { measurement, bin_begins, bin_complete, end };
  /// A message: what it is, the weight, and four planes.
  using packet = std::vector<float>;
  static constexpr std::size_t head = 2;

  packet empty_packet() const { return packet(head + 4 * plane_); }
  two_frequency::view spin(const packet& p, int side) const;
  /// What a packet means for the sums.
  void take(int chain, const packet& p, two_particle_sums& sums);
  void close_bin(int chain, two_particle_sums& sums);
  int next() const { return (messages_.rank() + 1) % messages_.size(); }

  comm::messenger& messages_;
  std::shared_ptr<const problem> problem_;
  std::vector<int> rank_of_;
  two_frequency functions_;  // for the tables in it
  std::size_t plane_;        // numbers in one
};

/// Where a chain that runs here hands in its measurements. When it goes, the others know that the chain has ended.
class g4_ring::source final : public two_particle_sink {
 public:
  source(g4_ring& ring, int chain);
  ~source();
  source(const source&) = delete;
  void begin_bin() override;
  void accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) override;
  void end_bin() override;

 private:
  packet& next_packet(kind what, double weight);
  void send();

  g4_ring& ring_;
  const int chain_;
  two_particle_sums sums_;
  std::array<packet, 2> packets_;
  std::array<task::future<comm::status>, 2> going_;
  std::size_t turn_ = 0;
};

}  // namespace plaq::dca
