// Choice of algorithm, arity and segment: a table measured on this machine, and defaults.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/comm/schedules/algorithms.hpp"

namespace plaq::comm {

/// Tuning table.
class tuning {
 public:
  /// Row for blocks of at least `bytes`, on `ranks` ranks.
  struct row {
    collective what;
    int ranks;
    std::size_t bytes;
    method by;
  };

  tuning() = default;
  explicit tuning(std::vector<row> rows) : rows_(std::move(rows)) {}
  /// Reads lines "collective ranks bytes algorithm arity segment"; # begins a comment. Throws input_error with `name`
  /// and the line for anything else.
  static tuning parse(std::string_view text, const std::string& name);
  /// Returns the table at `path()`, or an empty one if there is no such file.
  static tuning of_this_machine();
  /// Path of the table: $PLAQ_COMM_TUNING, else plaq/comm.tuning in $XDG_CONFIG_HOME, else in ~/.config.
  static std::string path();

  /// Returns the table as text that `parse` reads.
  std::string text() const;
  /// Returns the method of the row with the number of ranks nearest to `map` (in ratio), and of these the last one that
  /// begins at `bytes` or below; else default_method().
  method choose(collective what, const node_map& map, std::size_t bytes) const;

 private:
  std::vector<row> rows_;
};

/// Returns a method that is good on most machines: few rounds for short messages; for long ones every byte passes each
/// link once. If ranks share cores, nothing runs in parallel, and a flat tree wakes each rank once.
method default_method(collective what, const node_map& map, std::size_t bytes);

}  // namespace plaq::comm
