#include "plaq/linalg/instruction_set.hpp"

namespace plaq::linalg {

std::string instruction_set() { return PLAQ_INSTRUCTION_SET; }

}  // namespace plaq::linalg
