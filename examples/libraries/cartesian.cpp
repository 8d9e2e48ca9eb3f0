// Sums over the rows of a mesh of ranks that the program has as a Cartesian communicator of MPI.
//   mpirun -n 4 cartesian
#include <mpi.h>

#include <array>
#include <cstdio>
#include <exception>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/from_mpi.hpp"

namespace {

void run() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<int, 2> extent{};
  const std::array<int, 2> periodic{1, 1}, along_row{0, 1};
  MPI_Dims_create(ranks, 2, extent.data());
  MPI_Comm mesh = MPI_COMM_NULL, row = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extent.data(), periodic.data(), 1, &mesh);
  MPI_Cart_sub(mesh, along_row.data(), &row);

  const auto all = plaq::comm::from_mpi(mesh), neighbours = plaq::comm::from_mpi(row);
  MPI_Comm_free(&row);  // plaq has its own
  MPI_Comm_free(&mesh);
  plaq::comm::collectives in_row(neighbours), everywhere(all);
  std::array<int, 1> sum{1 + all.rank()};
  in_row.all_reduce(sum, plaq::comm::operation::sum);
  std::array<int, 1> largest = sum;
  everywhere.all_reduce(largest, plaq::comm::operation::max);
  if (all.rank() == 0) std::printf("%d x %d ranks, largest sum of a row: %d\n", extent[0], extent[1], largest[0]);
}

}  // namespace

int main(int count, char** arguments) {
  int level = 0, code = 0;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
  try {
    run();  // what plaq has of MPI ends with it
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cartesian: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, code = 1);
  }
  MPI_Finalize();
  return code;
}
