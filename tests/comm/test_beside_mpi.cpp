// Blocks of any length, beside the same calls of MPI itself on the same random input.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <random>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/from_mpi.hpp"

namespace plaq::comm {
namespace {

using counts_t = std::vector<std::size_t>;

struct of_mpi {
  std::vector<int> counts, first;
  explicit of_mpi(const counts_t& from) {
    int sum = 0;
    for (const auto n : from) {
      counts.push_back(int(n));
      first.push_back(sum);
      sum += int(n);
    }
  }
};

std::size_t sum_of(const counts_t& counts) {
  std::size_t sum = 0;
  for (const auto n : counts) sum += n;
  return sum;
}

/// The same numbers on every rank; some blocks are empty, some ranks have none.
std::vector<counts_t> random_lengths(std::mt19937& random, int p) {
  std::vector<counts_t> all(p, counts_t(p));
  for (auto& row : all) {
    const bool none = random() % 5 == 0;
    for (auto& n : row) n = none || random() % 3 == 0 ? 0 : random() % (random() % 8 == 0 ? 3000 : 20);
  }
  return all;
}

std::vector<int> random_values(int rank, std::size_t n, unsigned seed) {
  std::mt19937 random(seed + 31 * unsigned(rank));
  std::vector<int> x(n);
  for (auto& v : x) v = int(random() % 100000);
  return x;
}

TEST(beside_mpi, all_to_all_scatter_and_reduce_scatter_of_uneven_blocks) {
  const auto over = from_mpi(MPI_COMM_WORLD);
  collectives c(over);
  const int p = c.size(), me = c.rank();
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const auto n = random_lengths(random, p);
    const counts_t to = n[me];
    counts_t from;
    for (int r = 0; r < p; ++r) from.push_back(n[r][me]);
    const auto own = random_values(me, sum_of(to), seed);
    std::vector<int> expected(sum_of(from)), all(expected.size());
    const of_mpi out(to), in(from);
    MPI_Alltoallv(own.data(), out.counts.data(), out.first.data(), MPI_INT, expected.data(), in.counts.data(),
                  in.first.data(), MPI_INT, MPI_COMM_WORLD);
    c.all_to_all(own, to, all, from);
    EXPECT_EQ(all, expected);
    EXPECT_EQ(c.all_to_all_any(own, to).values, expected);

    const int root = int(seed) % p;
    const of_mpi shares(n[root]);
    const auto whole = random_values(root, me == root ? sum_of(n[root]) : 0, seed);
    std::vector<int> share(n[root][me]);
    MPI_Scatterv(whole.data(), shares.counts.data(), shares.first.data(), MPI_INT, share.data(), int(share.size()),
                 MPI_INT, root, MPI_COMM_WORLD);
    EXPECT_EQ(c.scatter_any(whole, n[root], root), share);

    const auto terms = random_values(me, sum_of(n[0]), seed);
    std::vector<int> least(n[0][me]), block(n[0][me]);
    MPI_Reduce_scatter(terms.data(), least.data(), of_mpi(n[0]).counts.data(), MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    c.reduce_scatter(terms, n[0], block, operation::min);
    EXPECT_EQ(block, least);
  }
}

TEST(beside_mpi, exchange_on_a_graph_of_random_neighbours) {
  const auto over = from_mpi(MPI_COMM_WORLD);
  collectives c(over);
  const int p = c.size(), me = c.rank();
  std::mt19937 random(6);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const auto n = random_lengths(random, p);
    std::vector<neighbour> to, from;
    std::vector<int> receivers, senders, weights;
    counts_t out, in;
    for (int r = 0; r < p; ++r) {
      if (n[me][r] > 0) to.push_back({r, n[me][r]}), receivers.push_back(r), out.push_back(n[me][r]);
      if (n[r][me] > 0) from.push_back({r, n[r][me]}), senders.push_back(r), in.push_back(n[r][me]);
    }
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, int(senders.size()), senders.data(), MPI_UNWEIGHTED,
                                   int(receivers.size()), receivers.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    const auto own = random_values(me, sum_of(out), seed);
    std::vector<int> expected(sum_of(in)), all(expected.size());
    const of_mpi sent(out), received(in);
    MPI_Neighbor_alltoallv(own.data(), sent.counts.data(), sent.first.data(), MPI_INT, expected.data(),
                           received.counts.data(), received.first.data(), MPI_INT, graph);
    MPI_Comm_free(&graph);
    c.exchange(own, to, all, from);
    EXPECT_EQ(all, expected);
    const auto found = c.exchange_any(own, to);  // the receivers do not say from whom
    EXPECT_EQ(found.values, expected);
    EXPECT_EQ(found.from, from);
  }
}

}  // namespace
}  // namespace plaq::comm
