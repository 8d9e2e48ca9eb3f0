// Shared libraries of this process.
#pragma once
#include <string>
#include <vector>

namespace plaq::comm {

/// A shared library that stays in the process.
class shared_library {
 public:
  /// Loads `name`, a path or a name for the loader to find. `error()` is why it failed, empty otherwise. Its symbols
  /// serve no other library.
  static shared_library load(const std::string& name);
  /// Returns `name` if the process has it already, else one that is not there.
  static shared_library loaded(const std::string& name);
  /// Returns the paths of all that the process has.
  static std::vector<std::string> paths();

  shared_library() = default;
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }

  /// Returns the address of a symbol of it or of a library that it needs; null if there is none. What a program or a
  /// tool defines in front of it, as MPI's profiling interface allows, comes first.
  void* symbol(const char* name) const;
  /// Returns the library that has the symbol: this one or one that it needs.
  shared_library owner(const char* symbol) const;
  /// Lets its symbols serve libraries that are loaded later.
  void make_global() const;

  /// Returns where it lies, without links.
  std::string path() const;
  /// Returns the name that programs linked with it ask for, as libmpi.so.40.
  std::string soname() const;

 private:
  shared_library(const std::string& name, int flags);

  void* handle_ = nullptr;
  bool global_ = false;  ///< a program linked with it, or a tool, may define symbols in front of it
  std::string error_;
};

}  // namespace plaq::comm
