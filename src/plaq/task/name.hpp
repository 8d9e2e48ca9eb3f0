// Names of tasks are those of regions.
#pragma once
#include "plaq/trace/label.hpp"

namespace plaq::task {

using task_name = trace::label;

}  // namespace plaq::task
