// The blocks of C++ in the pages of docs/, as they stand there; see tests/blocks.py.
#include <algorithm>
#include <cmath>

#include "conformance.hpp"
#include "plaq/base/error.hpp"

using namespace plaq;

template <class B>
struct Docs : task::Conformance<B> {};
TYPED_TEST_SUITE(Docs, task::every_backend, task::backend_names);

TYPED_TEST(Docs, FromOpenmp) {
  typename TypeParam::pool of_this_backend({.workers = 2});
  const auto page = [](auto& pool) {
#include "porting/openmp.inc"
  };
  page(of_this_backend);
}

TYPED_TEST(Docs, FromThreads) {
  typename TypeParam::pool of_this_backend({.workers = 2});
  const auto page = [](auto& pool) {
#include "porting/threads.inc"
  };
  page(of_this_backend);
}

TYPED_TEST(Docs, FromHpx) {
  typename TypeParam::pool of_this_backend({.workers = 2});
  const auto page = [](auto& pool) {
#include "porting/hpx.inc"
  };
  page(of_this_backend);
}

TEST(DocsOfTasks, TheExampleRuns) {
#include "task.inc"
}
