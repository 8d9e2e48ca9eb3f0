// Groups that the program has as communicators of its own MPI, which it starts and ends.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/from_mpi.hpp"
#include "plaq/comm/messages/messenger.hpp"

namespace plaq::comm {
namespace {

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Communicators of MPI that are freed at the end.
struct owned {
  MPI_Comm comm = MPI_COMM_NULL;
  ~owned() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

TEST(from_mpi, a_cartesian_communicator_keeps_its_ranks) {
  std::array<int, 2> extent{}, periodic{1, 0}, at{};
  MPI_Dims_create(world_size(), 2, extent.data());
  owned mesh;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extent.data(), periodic.data(), 1, &mesh.comm);
  int rank = 0;
  MPI_Comm_rank(mesh.comm, &rank);
  MPI_Cart_coords(mesh.comm, rank, 2, at.data());
  const communicator over = from_mpi(mesh.comm);
  EXPECT_EQ(over.rank(), rank);
  EXPECT_EQ(over.size(), world_size());
  // To the neighbours that MPI names.
  int before = 0, after = 0;
  MPI_Cart_shift(mesh.comm, 0, 1, &before, &after);
  messenger m(over);
  const std::vector<int> mine{at[0], at[1]};
  std::vector<int> theirs(2);
  auto coming = m.irecv(theirs, before);
  m.isend(mine, after).get();
  coming.get();
  EXPECT_EQ(theirs, (std::vector<int>{(at[0] + extent[0] - 1) % extent[0], at[1]}));
  // The sum over a row of it.
  owned row;
  const std::array<int, 2> kept{0, 1};
  MPI_Cart_sub(mesh.comm, kept.data(), &row.comm);
  collectives along(from_mpi(row.comm));
  std::vector<int> sum{rank};
  along.all_reduce(sum, operation::sum);
  int expected = 0;
  for (int y = 0; y < extent[1]; ++y) {
    int there = 0;
    const std::array<int, 2> place{at[0], y};
    MPI_Cart_rank(mesh.comm, place.data(), &there);
    expected += there;
  }
  EXPECT_EQ(sum[0], expected);
}

TEST(from_mpi, other_ranks_need_not_use_plaq) {
  owned part;
  const bool uses = world_rank() % 2 == 0;
  MPI_Comm_split(MPI_COMM_WORLD, uses ? 0 : MPI_UNDEFINED, -world_rank(), &part.comm);
  if (uses) {
    const communicator over = from_mpi(part.comm);
    EXPECT_EQ(over.size(), (world_size() + 1) / 2);
    EXPECT_EQ(over.rank(), over.size() - 1 - world_rank() / 2);  // ordered by the key
    collectives all(over);
    std::vector<int> ranks(std::size_t(over.size()));
    all.all_gather(std::vector{world_rank()}, ranks);
    for (int r = 0; r < over.size(); ++r) EXPECT_EQ(ranks[std::size_t(r)], 2 * (over.size() - 1 - r));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(from_mpi, outlives_the_communicator_that_it_was_made_of) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const communicator over = from_mpi(copy, 100);
  collectives all(over);
  MPI_Comm_free(&copy);
  std::vector<double> x(1000, world_rank());
  all.broadcast(x, over.size() - 1);
  EXPECT_EQ(x, std::vector<double>(1000, over.size() - 1));
}

TEST(from_mpi, messages_of_the_program_are_not_met) {
  const communicator over = from_mpi(MPI_COMM_WORLD);
  messenger m(over);
  const int p = over.size(), right = (over.rank() + 1) % p, left = (over.rank() + p - 1) % p;
  int bare = 0;
  const int mine = over.rank();
  MPI_Request coming;
  MPI_Irecv(&bare, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &coming);
  std::vector<int> by_plaq(1), sent{100 + mine};
  auto also_coming = m.irecv(by_plaq, left, 0);
  m.isend(sent, right, 0).get();
  MPI_Send(&mine, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
  MPI_Wait(&coming, MPI_STATUS_IGNORE);
  also_coming.get();
  EXPECT_EQ(bare, left);
  EXPECT_EQ(by_plaq[0], 100 + left);
}

template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const input_error& error) {
    return error.what();
  }
  return "none";
}

TEST(from_mpi, what_is_no_group_is_refused) {
  EXPECT_EQ(refusal([] { from_mpi(MPI_COMM_NULL); }),
            "from_mpi: the communicator is MPI_COMM_NULL, which has no ranks");
  EXPECT_EQ(refusal([] { from_mpi(MPI_COMM_WORLD, 0); }), "the longest message must have 1 to 2^31 - 1 bytes");
  if (world_size() < 2) return;
  owned half, both;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0, 0, &half.comm);
  MPI_Intercomm_create(half.comm, 0, MPI_COMM_WORLD, world_rank() == 0 ? 1 : 0, 1, &both.comm);
  EXPECT_EQ(refusal([&] { from_mpi(both.comm); }),
            "from_mpi: an intercommunicator joins two groups; MPI_Intercomm_merge makes one");
}

}  // namespace
}  // namespace plaq::comm

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (plaq::comm::refusal([] { plaq::comm::from_mpi(MPI_COMM_WORLD); }).find("MPI is not running") == std::string::npos)
    return 1;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
