#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/launcher.hpp"

namespace {

using namespace plaq::comm;

environment with(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(launcher, by_hand_there_is_none) { EXPECT_FALSE(find_launch(with({{"HOME", "/root"}}))); }

TEST(launcher, each_leaves_its_sign) {
  const auto open_mpi = find_launch(with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->size, 4);
  EXPECT_NE(open_mpi->launcher.find("Open MPI"), std::string::npos);

  const auto mpich = find_launch(with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}));
  ASSERT_TRUE(mpich);
  EXPECT_EQ(mpich->size, 2);
  EXPECT_NE(mpich->launcher.find("MPICH"), std::string::npos);

  const auto pmix = find_launch(with({{"PMIX_RANK", "1"}}));
  ASSERT_TRUE(pmix);
  EXPECT_FALSE(pmix->size);
}

TEST(launcher, slurm_counts_in_a_step_of_several_tasks) {
  EXPECT_EQ(find_launch(with({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "8"}}))->size, 8);
  EXPECT_FALSE(find_launch(with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}})));
  EXPECT_FALSE(find_launch(with({{"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "17"}}))) << "a batch script";
}

TEST(launcher, an_inner_launcher_hides_the_batch_system) {
  const auto inner = find_launch(with({{"SLURM_PROCID", "0"},
                                       {"SLURM_STEP_NUM_TASKS", "2"},
                                       {"OMPI_COMM_WORLD_RANK", "0"},
                                       {"OMPI_COMM_WORLD_SIZE", "4"}}));
  EXPECT_EQ(inner->size, 4);
}

TEST(launcher, refuses_a_count_that_is_none) {
  for (const char* text : {"", "four", "4x", "0", "-1"}) {
    EXPECT_THROW(find_launch(with({{"PMI_RANK", "0"}, {"PMI_SIZE", text}})), plaq::input_error) << text;
    EXPECT_THROW(expected_ranks(with({{"PLAQ_EXPECTED_RANKS", text}})), plaq::input_error) << text;
  }
  EXPECT_EQ(expected_ranks(with({{"PLAQ_EXPECTED_RANKS", "3"}})), 3);
  EXPECT_FALSE(expected_ranks(with({})));
}

template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const plaq::input_error& error) {
    return error.what();
  }
  return "none";
}

TEST(launcher, a_world_of_another_size_is_refused) {
  const launch by_mpich{"mpiexec of MPICH", 4};
  EXPECT_NO_THROW(check_world(4, "MPICH", "", by_mpich, 4));
  EXPECT_NO_THROW(check_world(7, "MPICH", "", launch{"a PMIx launcher", {}}, {}));
  EXPECT_EQ(refusal([&] { check_world(1, "Open MPI v4.1.4 (libmpi.so.40 of /usr/lib)", "", by_mpich, {}); })
                .find("started by mpiexec of MPICH with 4 ranks, but plaq runs on Open MPI v4.1.4 (libmpi.so.40 of "
                      "/usr/lib), whose world has 1 rank; use "),
            0u);
  EXPECT_EQ(refusal([] { check_world(2, "MPICH", "", {}, 3); }),
            "plaq was to run on 3 ranks (PLAQ_EXPECTED_RANKS), but its world has 2 ranks");
}

TEST(launcher, without_mpi_there_is_a_world_of_one_rank) {
  const std::string why = "no libmpi.so.12 can be loaded";
  EXPECT_NO_THROW(check_world(1, "", why, launch{"mpiexec of MPICH", 1}, {}));
  EXPECT_EQ(refusal([&] { check_world(1, "", why, launch{"mpiexec of MPICH", 4}, {}); }),
            "started by mpiexec of MPICH with 4 ranks, but plaq has no MPI: no libmpi.so.12 can be loaded");
  EXPECT_NE(refusal([&] { check_world(1, "", why, launch{"a PMIx launcher", {}}, {}); }), "none")
      << "this launcher does not say how many ranks there are";
}

TEST(launcher, a_rank_beyond_the_world_shows_that_there_are_several) {
  EXPECT_NE(refusal([] { check_world(1, "Open MPI v5", "", launch{"a PMIx launcher", {}, 1}, {}); }), "none");
  EXPECT_NO_THROW(check_world(2, "Open MPI v5", "", launch{"a PMIx launcher", {}, 1}, {}));
}

TEST(launcher, open_mpi_and_the_mpich_family_do_not_mix) {
  const auto open_mpi = find_launch(with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
  EXPECT_THROW(check_launcher("MPICH Version: 5.0.2", open_mpi), plaq::input_error);
  EXPECT_THROW(check_launcher("Intel(R) MPI Library 2021.13", open_mpi), plaq::input_error);
  const auto mpich = find_launch(with({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}));
  EXPECT_THROW(check_launcher("Open MPI v5.0.11", mpich), plaq::input_error);
  EXPECT_NO_THROW(check_launcher("Open MPI v4.1.4", open_mpi));
  EXPECT_NO_THROW(check_launcher("MPICH Version: 5.0.2", {}));
  EXPECT_NO_THROW(check_launcher("MPICH Version: 5.0.2", mpich));
  const auto by_slurm = find_launch(with({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}}));
  EXPECT_NO_THROW(check_launcher("Open MPI v4.1.4", by_slurm)) << "srun --mpi=pmi2";
}

TEST(launcher, of_open_mpi_5_does_not_start_the_library_of_4) {
  std::map<std::string, std::string> variables{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  EXPECT_NO_THROW(check_launcher("Open MPI v5.0.7 (libmpi.so.40 of /opt)", find_launch(with(variables))));
  variables["OMPI_VERSION"] = "5.0.7";
  EXPECT_NO_THROW(check_launcher("Open MPI v5.0.7 (libmpi.so.40 of /opt)", find_launch(with(variables))));
  const auto said =
      refusal([&] { check_launcher("Open MPI v4.1.4 (libmpi.so.40 of /usr/lib)", find_launch(with(variables))); });
  EXPECT_EQ(said.find("started by the mpirun of Open MPI 5.0.7 with 4 ranks, but plaq runs on Open MPI v4.1.4"), 0)
      << said;
}

TEST(launcher, tells_whose_ranks_it_starts) {
  using kind = launch::kind;
  EXPECT_EQ(find_launch(with({{"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}}))->ranks_of, kind::open_mpi);
  EXPECT_EQ(find_launch(with({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}))->ranks_of, kind::mpich);
  EXPECT_EQ(find_launch(with({{"PMIX_RANK", "1"}}))->ranks_of, kind::pmix);
  const std::map<std::string, std::string> step{{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "8"}};
  EXPECT_EQ(find_launch(with(step))->ranks_of, kind::any);
  auto by_pmix = step;
  by_pmix["PMIX_RANK"] = "3";
  EXPECT_EQ(find_launch(with(by_pmix))->ranks_of, kind::pmix) << "srun --mpi=pmix";
  EXPECT_EQ(find_launch(with(by_pmix))->size, 8);
  EXPECT_EQ(find_launch(with(by_pmix))->rank, 3);
}

}  // namespace
