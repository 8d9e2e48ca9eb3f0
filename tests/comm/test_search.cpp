// Choice of MPI among libraries that only look like it, in folders as installations have them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/interface.hpp"
#include "plaq/comm/mpi/search.hpp"

namespace {

using namespace plaq::comm;
namespace fs = std::filesystem;
using kind = launch::kind;

/// Returns what `say` returns, called in a child of this process: libraries stay in the process that loads them.
template <class Say>
std::string in_child(Say&& say) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      said = say();
    } catch (const std::exception& error) {
      said = std::string("error: ") + error.what();
    }
    ::_exit(::write(ends[1], said.data(), said.size()) == ssize_t(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 4096> text{};
  for (ssize_t n = 0; (n = ::read(ends[0], text.data(), text.size())) > 0;) said.append(text.data(), std::size_t(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

environment with_mpi(std::optional<std::string> named) {
  return [named = std::move(named)](const char* name) {
    return named && std::string(name) == "PLAQ_MPI" ? named->c_str() : nullptr;
  };
}

/// Folders of installations, each with lib/ and some of the libraries.
class search_for_mpi : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::path(testing::TempDir()) / ("plaq_search." + std::to_string(::getpid()));
    for (const char* name : {"openmpi", "mpich", "abi", "open_abi", "draft", "other", "all"})
      fs::create_directories(home_ / name / "lib");
    copy(FAKE_OPEN_MPI, "openmpi", "libmpi.so.40");
    copy(FAKE_MPICH, "mpich", "libmpi.so.12");
    copy(FAKE_ABI, "abi", "libmpi_abi.so.1");
    copy(FAKE_ABI_OF_OPEN_MPI, "open_abi", "libmpi_abi.so.1");
    copy(FAKE_DRAFT, "draft", "libmpi_abi.so.0");
    copy(FAKE_OTHER, "other", "libmpi.so.12");
    for (const auto& [from, file] : std::map<std::string, std::string>{
             {"openmpi", "libmpi.so.40"}, {"mpich", "libmpi.so.12"}, {"abi", "libmpi_abi.so.1"}})
      fs::copy_file(home_ / from / "lib" / file, home_ / "all/lib" / file);
  }
  void TearDown() override { fs::remove_all(home_); }

  /// Returns folder and file of the choice, or why there is none.
  std::string chosen(std::vector<std::string> folders, std::optional<kind> by = {},
                     std::optional<std::string> named = {}, std::string beside_launcher = "") const {
    return in_child([&] {
      std::optional<launch> started;
      if (by) started = launch{"a launcher", 2, 0, *by};
      const auto places = [&] {
        mpi_places where;
        if (!beside_launcher.empty()) where.of_launcher = home_ / beside_launcher;
        for (const auto& folder : folders) where.prefixes.push_back(home_ / folder);
        return where;
      };
      const auto choice = choose_mpi(with_mpi(named), started, places);
      return choice.library ? place(choice.library) : choice.why_none;
    });
  }
  std::string place(const shared_library& library) const {
    return fs::relative(library.path(), fs::canonical(home_)).string();
  }

  fs::path home_;

 private:
  void copy(const char* from, const char* to, const char* name) { fs::copy_file(from, home_ / to / "lib" / name); }
};

TEST_F(search_for_mpi, the_first_folder_wins_without_a_launcher) {
  EXPECT_EQ(chosen({"mpich", "openmpi"}), "mpich/lib/libmpi.so.12");
  EXPECT_EQ(chosen({"openmpi", "mpich"}), "openmpi/lib/libmpi.so.40");
  EXPECT_EQ(chosen({"abi", "mpich"}), "abi/lib/libmpi_abi.so.1");
}

TEST_F(search_for_mpi, a_launcher_gets_one_that_it_can_start) {
  EXPECT_EQ(chosen({"mpich", "abi", "openmpi"}, kind::open_mpi), "openmpi/lib/libmpi.so.40");
  EXPECT_EQ(chosen({"openmpi", "mpich"}, kind::mpich), "mpich/lib/libmpi.so.12");
  EXPECT_EQ(chosen({"openmpi", "abi"}, kind::mpich), "abi/lib/libmpi_abi.so.1");
  EXPECT_EQ(chosen({"mpich", "openmpi"}, kind::pmix), "openmpi/lib/libmpi.so.40");
  EXPECT_EQ(chosen({"openmpi", "mpich"}, kind::pmi), "mpich/lib/libmpi.so.12");
  EXPECT_EQ(chosen({"openmpi", "mpich"}, kind::any), "openmpi/lib/libmpi.so.40");
}

TEST_F(search_for_mpi, the_library_beside_the_launcher_comes_first) {
  EXPECT_EQ(chosen({"mpich"}, kind::mpich, {}, "all"), "all/lib/libmpi.so.12");
  EXPECT_EQ(chosen({"openmpi"}, kind::open_mpi, {}, "all"), "all/lib/libmpi.so.40");
}

TEST_F(search_for_mpi, the_standard_s_interface_tells_not_whose_it_is_so_the_version_does) {
  EXPECT_EQ(chosen({"abi", "open_abi"}, kind::open_mpi), "open_abi/lib/libmpi_abi.so.1");
}

TEST_F(search_for_mpi, what_is_no_such_library_is_passed_over) {
  EXPECT_EQ(chosen({"draft", "other", "abi"}, kind::mpich), "abi/lib/libmpi_abi.so.1");
  std::ofstream(home_ / "draft/lib/libmpi.so.12") << "no library";
  const auto why = chosen({"draft"}, kind::mpich);
  if (why.starts_with("none of")) {  // the machine has none either
    EXPECT_NE(why.find("libmpi.so.12, "), std::string::npos) << why;
    EXPECT_NE(why.find("draft/lib/libmpi.so.12: "), std::string::npos) << why;
  }
}

TEST_F(search_for_mpi, the_user_s_choice_comes_before_all) {
  EXPECT_EQ(chosen({"openmpi", "all"}, {}, "mpich"), "all/lib/libmpi.so.12");
  EXPECT_EQ(chosen({"all"}, {}, "abi"), "all/lib/libmpi_abi.so.1");
  EXPECT_EQ(chosen({"all"}, kind::open_mpi, (home_ / "mpich/lib/libmpi.so.12").string()), "mpich/lib/libmpi.so.12");
  EXPECT_EQ(chosen({"all"}, kind::open_mpi, "none"), "PLAQ_MPI is none");
  EXPECT_EQ(chosen({"all"}, {}, ""), "all/lib/libmpi.so.40") << "empty is as if it were not there";
}

TEST_F(search_for_mpi, a_choice_that_cannot_be_met_is_refused) {
  EXPECT_EQ(chosen({"all"}, {}, "intel"),
            "error: PLAQ_MPI is 'intel'; it may be openmpi, mpich, abi, none, or the path of a library");
  EXPECT_TRUE(chosen({"all"}, {}, "/nowhere/libmpi.so")
                  .starts_with("error: PLAQ_MPI is /nowhere/libmpi.so, which cannot be loaded: "));
}

TEST_F(search_for_mpi, an_mpi_of_the_process_comes_before_those_of_folders) {
  EXPECT_EQ(in_child([&] {
              shared_library::load((home_ / "mpich/lib/libmpi.so.12").string());
              const auto choice = choose_mpi(with_mpi({}), {}, [&] { return mpi_places{{}, {home_ / "openmpi"}}; });
              return place(choice.library);
            }),
            "mpich/lib/libmpi.so.12");
}

TEST_F(search_for_mpi, tells_version_interface_and_launcher) {
  fs::create_directories(home_ / "all/bin");
  for (const char* name : {"mpiexec", "mpiexec.hydra"}) {
    std::ofstream(home_ / "all/bin" / name) << "#!/bin/sh\n";
    fs::permissions(home_ / "all/bin" / name, fs::perms::owner_all);
  }
  EXPECT_EQ(in_child([&] {
              std::string said;
              for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpi_abi.so.1"}) {
                const auto library = shared_library::load((home_ / "all/lib" / name).string());
                said += version_of(library) + "|" + name_of_interface(library) + "|" + library.soname() + "|" +
                        fs::path(launcher_of(library)).filename().string() + "\n";
              }
              return said;
            }),
            "Open MPI v9|openmpi|libmpi.so.40|mpiexec\nMPICH Version: 9|mpich|libmpi.so.12|mpiexec.hydra\n"
            "MPICH Version: 9|abi|libmpi_abi.so.1|mpiexec.hydra\n");
}

TEST_F(search_for_mpi, a_library_that_lacks_functions_is_refused) {
  EXPECT_NE(in_child([&]() -> std::string {
              take_mpi(shared_library::load((home_ / "mpich/lib/libmpi.so.12").string()));
              return "";
            }).find("mpich/lib/libmpi.so.12 has no MPI_Abort and cannot serve as MPI"),
            std::string::npos);
  EXPECT_NE(in_child([&]() -> std::string {
              take_mpi(shared_library::load((home_ / "draft/lib/libmpi_abi.so.0").string()));
              return "";
            }).find("is no MPI that plaq can load"),
            std::string::npos);
}

}  // namespace
