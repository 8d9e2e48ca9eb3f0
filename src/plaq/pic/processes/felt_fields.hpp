// Fields that particles feel: those of the mesh and those from outside.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Replaces E and B of a patch, while it lives, by the fields that particles gather at a time: with the plan's external
/// fields, and for a momentum-conserving gather as means at the nodes. The fields of the mesh are back, bit by bit,
/// at its end. Throws runtime_failure that names the point where an external field is not finite.
template <class T>
class felt_fields {
 public:
  felt_fields(const plan& p, patch<T>& self, double t);
  ~felt_fields();
  felt_fields(const felt_fields&) = delete;
  felt_fields& operator=(const felt_fields&) = delete;

 private:
  patch<T>& self_;
  std::array<std::vector<T>, 6> of_mesh_;  ///< empty where nothing is replaced
};

}  // namespace plaq::pic
