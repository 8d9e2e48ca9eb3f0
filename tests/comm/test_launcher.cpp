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

TEST(launcher, a_world_of_another_size_is_refused) {
  const launch by_mpich{"mpiexec of MPICH", 4};
  EXPECT_NO_THROW(check_world(4, "MPICH", by_mpich, 4));
  EXPECT_NO_THROW(check_world(7, "MPICH", launch{"a PMIx launcher", {}}, {}));
  try {
    check_world(1, "Open MPI v4.1.4", by_mpich, {});
    FAIL();
  } catch (const plaq::input_error& e) {
    EXPECT_EQ(std::string(e.what()).find("started by mpiexec of MPICH with 4 ranks, but plaq was built with Open MPI "
                                         "v4.1.4, whose world has 1 rank"),
              0u)
        << e.what();
  }
  EXPECT_THROW(check_world(2, "MPICH", {}, 3), plaq::input_error);
  try {
    check_world(1, "", by_mpich, {});
    FAIL();
  } catch (const plaq::input_error& e) {
    EXPECT_STREQ(e.what(), "started by mpiexec of MPICH with 4 ranks, but plaq was built without MPI");
  }
}

TEST(launcher, open_mpi_and_the_mpich_family_do_not_mix) {
  const auto open_mpi = find_launch(with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));
  EXPECT_THROW(check_launcher("MPICH Version: 5.0.2", open_mpi), plaq::input_error);
  EXPECT_THROW(check_launcher("Intel(R) MPI Library 2021.13", open_mpi), plaq::input_error);
  EXPECT_NO_THROW(check_launcher("Open MPI v4.1.4", open_mpi));
  EXPECT_NO_THROW(check_launcher("MPICH Version: 5.0.2", {}));
  EXPECT_NO_THROW(check_launcher("MPICH Version: 5.0.2", find_launch(with({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}))));
}

}  // namespace
