// Names of tasks, the same type as those of regions.
#pragma once
#include "plaq/trace/label.hpp"

namespace plaq::task {

using task_name = trace::label;

}  // namespace plaq::task
