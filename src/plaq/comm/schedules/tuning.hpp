// Which algorithm, arity and segment: a table measured on this machine, with defaults for what it does not hold.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/comm/schedules/algorithms.hpp"

namespace plaq::comm {

class tuning {
 public:
  /// From `bytes` on, on `ranks` ranks.
  struct row {
    collective what;
    int ranks;
    std::size_t bytes;
    method by;
  };

  tuning() = default;
  explicit tuning(std::vector<row> rows) : rows_(std::move(rows)) {}
  /// Lines "collective ranks bytes algorithm arity segment"; # begins a comment. Throws input_error with `name`
  /// and the line for anything else.
  static tuning parse(std::string_view text, const std::string& name);
  /// The table at `path()`, or an empty one where there is no such file.
  static tuning of_this_machine();
  /// $PLAQ_COMM_TUNING, else plaq/comm.tuning in $XDG_CONFIG_HOME, else in ~/.config.
  static std::string path();

  /// What `parse` reads.
  std::string text() const;
  /// Among the rows of the operation the number of ranks nearest to that of `seats` (in ratio), there the last row
  /// that begins at `bytes` or below.
  method choose(collective what, const seating& seats, std::size_t bytes) const;

 private:
  std::vector<row> rows_;
};

/// What is good on most machines: few rounds for short messages; for long ones every byte over each link once. Where
/// ranks take turns on cores nothing runs side by side, and what counts is that each has to wake up once: flat.
method default_method(collective what, const seating& seats, std::size_t bytes);

}  // namespace plaq::comm
