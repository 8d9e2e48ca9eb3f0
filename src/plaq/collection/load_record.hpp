// Loads that a collection had, as a file that `plaq balance` replays.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plaq/collection/balance/situation.hpp"
#include "plaq/collection/index.hpp"

namespace plaq::elements {

/// A line of JSON when it is opened, and a line for each balancing: what balancers know, and what one of them
/// said. Fields: docs/balance.md. Throws runtime_failure that names the file where it cannot be written; what was
/// there is overwritten.
class load_record {
 public:
  /// `unit`: of loads, "s" or "work".
  load_record(std::filesystem::path file, const std::string& name, const std::string& unit);
  void write(const std::vector<key>& keys, const balance::situation& s, const std::string& by, const balance::plan& to);

 private:
  void put(const std::string& line);

  const std::filesystem::path file_;
  std::ofstream out_;
};

}  // namespace plaq::elements
