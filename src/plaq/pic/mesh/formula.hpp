// Formulas of an input, as programs on a stack that Python has compiled (python/plaq/pic/inputs/formula.py).
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace plaq::pic {

/// Formula of x, y, z, t, evaluated for a row of points at a time. The default is 0 everywhere.
class formula {
 public:
  /// Step of a program: pushes a number (takes = 0, no symbol), pushes a variable (takes = 0), or replaces the last
  /// `takes` values by a function or operator of them; `x`, `y` are the points of a table, which is linear between
  /// them and constant outside.
  struct step {
    std::string symbol;
    int takes = 0;
    double number = 0;
    std::vector<double> x = {}, y = {};
  };

  formula() = default;
  /// Throws input_error for a symbol that is not known, or a program that does not leave one value.
  explicit formula(const std::vector<step>& program);

  /// Whether it is 0 everywhere by default.
  bool empty() const { return program_.empty(); }
  bool depends_on_time() const { return depends_on_time_; }
  /// Writes the values at the points (x[i], y, z) at the time t.
  void evaluate(std::span<const double> x, double y, double z, double t, std::span<double> out) const;

 private:
  using operation = void (*)(double* values, std::size_t n);  ///< on rows of n, the first of which gets the result
  struct compiled {
    operation apply = nullptr;  ///< null: pushes
    int takes = 0, variable = -1;
    double number = 0;
    std::vector<double> x = {}, y = {};
  };
  std::vector<compiled> program_;
  int depth_ = 0;
  bool depends_on_time_ = false;
};

}  // namespace plaq::pic
