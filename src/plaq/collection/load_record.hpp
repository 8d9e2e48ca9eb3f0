// Loads of a collection, as a file that `plaq balance` replays.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plaq/collection/balance/load_distribution.hpp"
#include "plaq/collection/index.hpp"

namespace plaq::elements {

/// File with a line of JSON about the collection, and a line for each balancing: the load distribution and the plan.
/// Fields: docs/balance.md. Replaces a file of this name. Throws runtime_failure that names the file if it cannot be
/// written.
class load_record {
 public:
  /// `unit`: of loads, "s" or "work".
  load_record(std::filesystem::path file, const std::string& name, const std::string& unit);
  void write(const std::vector<key>& keys, const balance::load_distribution& s, const std::string& by,
             const balance::plan& to);

 private:
  void put(const std::string& line);

  const std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace plaq::elements
