#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "conformance.hpp"
#include "plaq/task/placement.hpp"

namespace plaq::task {

using cpu_list = std::vector<int>;

/// A machine of 4 cores with two hardware threads each: core c has c and c + 4.
struct Placement : testing::Test {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("plaq_place_" + std::to_string(getpid()));
  Placement() {
    for (int cpu = 0; cpu < 8; ++cpu)
      write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
            std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  }
  ~Placement() override { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << '\n';
  }
  const cpu_list all{0, 1, 2, 3, 4, 5, 6, 7};
};

TEST_F(Placement, OneWorkerPerCoreOrPerThread) {
  const share cores = fair_share({all}, 0, binding::cores, root);
  EXPECT_EQ(cores.workers, 4);
  EXPECT_EQ(cores.cpus, (cpu_list{0, 1, 2, 3, 4, 5, 6, 7})) << "first threads of the cores first";
  EXPECT_EQ(fair_share({all}, 0, binding::threads, root).workers, 8);
  EXPECT_EQ(fair_share({{2, 6, 3}}, 0, binding::automatic, root).workers, 2);
  EXPECT_EQ(fair_share({{2, 6, 3}}, 0, binding::automatic, root).cpus, (cpu_list{2, 3, 6}));
}

TEST_F(Placement, DomainsAreTheNumaNodesOfTheWorkers) {
  const std::vector<cpu_list> cores{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const auto domains = [&](const std::vector<cpu_list>& places, int workers) {
    return detail::domains_of(places, workers, root);
  };
  EXPECT_EQ(domains(cores, 4), std::vector<int>()) << "a kernel without nodes";
  write("sys/devices/system/node/node0/cpulist", "0-7");
  EXPECT_EQ(domains(cores, 4), std::vector<int>()) << "one node";
  write("sys/devices/system/node/node0/cpulist", "0-1,4-5");
  write("sys/devices/system/node/node2/cpulist", "2,3,6-7");
  write("sys/devices/system/node/online", "0,2");
  EXPECT_EQ(domains(cores, 4), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(domains(cores, 6), (std::vector<int>{0, 0, 1, 1, 0, 0})) << "round robin, as their binding";
  EXPECT_EQ(domains({{3}, {1}}, 2), (std::vector<int>{1, 0}));
  EXPECT_EQ(domains({{2}, {3}}, 2), std::vector<int>()) << "both on one of the nodes";
  EXPECT_EQ(domains({{0, 1, 2, 3}}, 4), std::vector<int>()) << "each on any node";
  EXPECT_EQ(domains({{0}, {8}}, 2), std::vector<int>()) << "one on no node";
  EXPECT_EQ(domains({}, 4), std::vector<int>()) << "not bound";
}

TEST_F(Placement, RanksThatAreNotBoundShareTheCores) {
  const std::vector<cpu_list> two{all, all};
  EXPECT_EQ(fair_share(two, 0, binding::cores, root).cpus, (cpu_list{0, 1, 4, 5}));
  EXPECT_EQ(fair_share(two, 1, binding::cores, root).cpus, (cpu_list{2, 3, 6, 7}));
  EXPECT_EQ(fair_share(two, 1, binding::cores, root).workers, 2);
  for (int ranks : {1, 2, 3, 4}) {
    std::multiset<int> used;
    for (int r = 0; r < ranks; ++r) {
      const std::vector<cpu_list> masks(static_cast<std::size_t>(ranks), all);
      const share mine = fair_share(masks, r, binding::cores, root);
      EXPECT_GE(mine.workers, 1);
      used.insert(mine.cpus.begin(), mine.cpus.end());
    }
    EXPECT_EQ(used, std::multiset<int>(all.begin(), all.end())) << ranks << ": none twice, none left";
  }
}

TEST_F(Placement, MoreRanksThanCoresGetOneWorkerEach) {
  const share mine = fair_share(std::vector<cpu_list>(6, all), 5, binding::cores, root);
  EXPECT_EQ(mine.workers, 1);
  EXPECT_EQ(mine.cpus, all);
}

TEST_F(Placement, WhatALauncherBoundStays) {
  const std::vector<cpu_list> by_core{{0, 4}, {1, 5}};
  EXPECT_EQ(fair_share(by_core, 1, binding::cores, root).cpus, (cpu_list{1, 5}));
  EXPECT_EQ(fair_share(by_core, 1, binding::cores, root).workers, 1);
  // four ranks on two sockets: each socket is shared by its two
  const cpu_list left{0, 1, 4, 5}, right{2, 3, 6, 7};
  const std::vector<cpu_list> by_socket{left, right, left, right};
  EXPECT_EQ(fair_share(by_socket, 0, binding::cores, root).cpus, (cpu_list{0, 4}));
  EXPECT_EQ(fair_share(by_socket, 1, binding::cores, root).cpus, (cpu_list{2, 6}));
  EXPECT_EQ(fair_share(by_socket, 2, binding::cores, root).cpus, (cpu_list{1, 5}));
  EXPECT_EQ(fair_share(by_socket, 3, binding::cores, root).cpus, (cpu_list{3, 7}));
}

TEST_F(Placement, TheLimitOfProcessorTimeIsSharedToo) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(fair_share({all}, 0, binding::cores, root).workers, 3);
  EXPECT_EQ(fair_share({all, all}, 0, binding::cores, root).workers, 2);
  EXPECT_EQ(fair_share({all}, 0, binding::threads, root).workers, 3);
}

// On this machine, whatever it has: the first allowed hardware thread stands for a list.
struct Binding : testing::Test {
  const cpu_list allowed = detail::allowed_cpus();
};

TEST_F(Binding, IsForAllCoresOrAsTold) {
  const std::size_t cores = detail::by_core(allowed, "/").size();
  const int all = static_cast<int>(cores);
  EXPECT_EQ(detail::place_workers({.workers = all}).cpus.size(), cores);
  EXPECT_TRUE(detail::place_workers({.workers = all + 1}).cpus.empty());
  EXPECT_TRUE(detail::place_workers({.workers = all, .bind = binding::none}).cpus.empty());
  EXPECT_EQ(detail::place_workers({.workers = all + 1, .bind = binding::cores}).cpus.size(), cores);
  const auto listed = detail::place_workers({.bind = binding::threads, .cpus = {allowed.back()}});
  EXPECT_EQ(listed.workers, 1);
  EXPECT_EQ(listed.cpus, (std::vector<cpu_list>{{allowed.back()}}));
}

TEST_F(Binding, IsLeftOutWhereTheKernelRefusesIt) {
  EXPECT_TRUE(detail::may_bind({{allowed.front()}, {allowed.back()}}));
  EXPECT_FALSE(detail::may_bind({{allowed.front()}, {4000}}));  // no machine of ours has so many
  EXPECT_FALSE(detail::place_workers({}).refused);
  EXPECT_EQ(detail::allowed_cpus(), allowed) << "of this thread";
}

TEST_F(Binding, BadOptionsAreNamed) {
  EXPECT_THROW(detail::place_workers({.workers = -1}), input_error);
  try {
    detail::place_workers({.cpus = {allowed.front(), 99999}});
    FAIL();
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("may not use 99999"), std::string::npos) << e.what();
  }
}

template <class B>
struct Bound : Conformance<B> {};
TYPED_TEST_SUITE(Bound, every_backend, backend_names);

TYPED_TEST(Bound, TasksRunWhereTheyWereToldTo) {
  const cpu_list allowed = detail::allowed_cpus();
  for (int cpu : {allowed.front(), allowed.back()}) {
    typename TypeParam::pool pool({.workers = 3, .bind = binding::threads, .cpus = {cpu}});
    std::vector<typename TypeParam::template future<int>> all;
    for (int i = 0; i < 50; ++i)
      all.push_back(pool.async("where", [] {
        TypeParam::yield();
        return sched_getcpu();
      }));
    for (auto& where : all) EXPECT_EQ(where.get(), cpu);
  }
  EXPECT_EQ(detail::allowed_cpus(), allowed) << "of this thread";
}

TYPED_TEST(Bound, UnboundTasksKeepTheMask) {
  const cpu_list allowed = detail::allowed_cpus();
  typename TypeParam::pool pool({.workers = 2, .bind = binding::none});
  EXPECT_EQ(pool.async("where", [] { return detail::allowed_cpus(); }).get(), allowed);
}

}  // namespace plaq::task
