// Instruction set that the kernels were compiled for.
#pragma once
#include <string>

namespace plaq::linalg {

/// Name of the instruction set of linalg and of dca's kernels in this program, e.g. "x86-64-v3".
std::string instruction_set();

}  // namespace plaq::linalg
