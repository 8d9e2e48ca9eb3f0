// All of plaq::task.
#pragma once
#include "plaq/task/backends.hpp"
#include "plaq/task/barrier.hpp"
#include "plaq/task/channel.hpp"
#include "plaq/task/cores.hpp"
#include "plaq/task/dataflow.hpp"
#include "plaq/task/latch.hpp"
#include "plaq/task/lazy.hpp"
#include "plaq/task/parallel_for.hpp"
#include "plaq/task/parallel_reduce.hpp"
#include "plaq/task/parallel_scan.hpp"
#include "plaq/task/parallel_sort.hpp"
#include "plaq/task/when.hpp"
