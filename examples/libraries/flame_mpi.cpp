// Flame in a plate, in plain MPI: a rectangle for each rank.
//   mpirun -n 4 flame_mpi [points along a side [steps]]
#include <mpi.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "flame.hpp"

namespace {

/// Rectangle of this rank and its neighbours.
struct place {
  MPI_Comm mesh = MPI_COMM_NULL;
  std::array<int, 2> extent{}, at{};
  int left = MPI_PROC_NULL, right = MPI_PROC_NULL, below = MPI_PROC_NULL, above = MPI_PROC_NULL;
  int x0 = 0, y0 = 0, nx = 0, ny = 0;
};

place place_of_this_rank(int n) {
  place p;
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, p.extent.data());
  const std::array<int, 2> periodic{0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, p.extent.data(), periodic.data(), 1, &p.mesh);
  MPI_Comm_rank(p.mesh, &rank);
  MPI_Cart_coords(p.mesh, rank, 2, p.at.data());
  MPI_Cart_shift(p.mesh, 0, 1, &p.left, &p.right);
  MPI_Cart_shift(p.mesh, 1, 1, &p.below, &p.above);
  p.x0 = first_of(p.at[0], p.extent[0], n);
  p.nx = first_of(p.at[0] + 1, p.extent[0], n) - p.x0;
  p.y0 = first_of(p.at[1], p.extent[1], n);
  p.ny = first_of(p.at[1] + 1, p.extent[1], n) - p.y0;
  return p;
}

/// Exchange of the points at the sides with the neighbours.
class halo {
 public:
  halo(const place& where, const grid& g) : where_(where) {
    const int row = int(sizeof(point)), stride = (g.nx + 2) * row;
    MPI_Type_contiguous(g.nx * row, MPI_BYTE, &row_);
    MPI_Type_vector(g.ny, row, stride, MPI_BYTE, &column_);
    MPI_Type_commit(&row_);
    MPI_Type_commit(&column_);
  }
  ~halo() {
    MPI_Type_free(&row_);
    MPI_Type_free(&column_);
  }
  halo(const halo&) = delete;

  void exchange(grid& g) const {
    std::array<MPI_Request, 8> all;
    MPI_Irecv(&g.at(-1, 0), 1, column_, where_.left, 0, where_.mesh, &all[0]);
    MPI_Irecv(&g.at(g.nx, 0), 1, column_, where_.right, 1, where_.mesh, &all[1]);
    MPI_Irecv(&g.at(0, -1), 1, row_, where_.below, 2, where_.mesh, &all[2]);
    MPI_Irecv(&g.at(0, g.ny), 1, row_, where_.above, 3, where_.mesh, &all[3]);
    MPI_Isend(&g.at(g.nx - 1, 0), 1, column_, where_.right, 0, where_.mesh, &all[4]);
    MPI_Isend(&g.at(0, 0), 1, column_, where_.left, 1, where_.mesh, &all[5]);
    MPI_Isend(&g.at(0, g.ny - 1), 1, row_, where_.above, 2, where_.mesh, &all[6]);
    MPI_Isend(&g.at(0, 0), 1, row_, where_.below, 3, where_.mesh, &all[7]);
    MPI_Waitall(int(all.size()), all.data(), MPI_STATUSES_IGNORE);
  }

 private:
  const place& where_;
  MPI_Datatype row_ = MPI_DATATYPE_NULL, column_ = MPI_DATATYPE_NULL;
};

void run(int n, int steps) {
  const place here = place_of_this_rank(n);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(here.mesh, &rank);
  MPI_Comm_size(here.mesh, &ranks);
  grid now(here.nx, here.ny), next(here.nx, here.ny);
  fill(now, here.x0, here.y0, n);
  const halo sides(here, now);
  double busy = 0;
  for (int k = 0; k < steps; ++k) {
    sides.exchange(now);
    const double before = MPI_Wtime();
    step(now, next, 0.05);
    busy += MPI_Wtime() - before;
    std::swap(now, next);
    if (k % 50 == 49) {
      double t = hottest(now), longest = 0, all = 0;
      MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, here.mesh);
      MPI_Allreduce(&busy, &longest, 1, MPI_DOUBLE, MPI_MAX, here.mesh);
      MPI_Allreduce(&busy, &all, 1, MPI_DOUBLE, MPI_SUM, here.mesh);
      if (rank == 0) std::printf("step %d: hottest %.6f, imbalance %.2f\n", k + 1, t, longest * ranks / all - 1);
      busy = 0;
    }
  }
  std::uint64_t bits = bits_of(now, here.x0, here.y0, n);
  MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UINT64_T, MPI_SUM, here.mesh);
  if (rank == 0) std::printf("bits %016" PRIx64 "\n", bits);
  MPI_Comm place = here.mesh;
  MPI_Comm_free(&place);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  run(count > 1 ? std::atoi(arguments[1]) : 128, count > 2 ? std::atoi(arguments[2]) : 100);
  MPI_Finalize();
}
