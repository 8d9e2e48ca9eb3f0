#!/usr/bin/env bash
# Checks the requirements of plaq's build by trying them, not by asking a package manager. Missing ones are installed by
# apt-get if the user may do that; else this lists them with their names on each system, and ends with exit code 1.
# Optional parts that cannot be installed are reported in a line, without an error.
#   packaging/install-deps.sh build     requirements of `make demo`
#   packaging/install-deps.sh test      further requirements of the tests
# CXX and PYTHON name the compiler and the Python to check. Folders in CONDA_PREFIX and CMAKE_PREFIX_PATH are searched.
set -euo pipefail

cxx=${CXX:-c++}
python=${PYTHON:-python3}
flags=(-std=c++20)
IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}:${CONDA_PREFIX:-}"
for prefix in "${prefixes[@]}"; do
  [ -z "$prefix" ] || flags+=("-I$prefix/include" "-L$prefix/lib" "-L$prefix/lib64")
done

compiles() {  # a program that includes the header $1 and is linked with the further arguments
  # By file, not by pipe: a compiler that ends before it has read all would cause EPIPE in the writer.
  "$cxx" "${flags[@]}" -x c++ - -o /dev/null "${@:2}" <<<"#include <$1>"$'\n''int main() {}' 2>/dev/null
}
compiles_otf2() { compiles otf2/otf2.h -lotf2 || compiles otf2/otf2.h -lopen-trace-format2; }
python_has() { "$python" -c "$1" 2>/dev/null; }
tool() { command -v "$1" >/dev/null; }
has_mpi() { tool mpiexec || tool mpirun || tool srun; }
has_mpi_headers() {  # Debian has the compiler's wrapper in another package than the headers
  local wrapper
  for wrapper in mpicxx mpic++; do
    ! "$wrapper" -x c++ -fsyntax-only - <<<"#include <mpi.h>" 2>/dev/null || return 0
  done
  return 1
}

# Description, check, and name for Debian and Ubuntu, Fedora, conda-forge and Spack; - if part of another package.
needs=(
  "a C++20 compiler (GCC 12 or later, Clang 16 or later)|compiles source_location|g++|gcc-c++|cxx-compiler|gcc"
  "make|tool make|make|make|make|gmake"
  "Python 3.11 or later|python_has 'import sys; assert sys.version_info >= (3, 11)'|python3|python3|python|python"
  "Python's venv and pip|python_has 'import venv, ensurepip'|python3-venv|-|-|-"
  "Python's headers|python_has 'import os, sysconfig; os.stat(sysconfig.get_path(\"include\") + \"/Python.h\")'|python3-dev|python3-devel|-|-"
  "Boost.Context|compiles boost/context/detail/fcontext.hpp -lboost_context|libboost-context-dev|boost-devel|libboost-devel|boost+context"
  "Random123|compiles Random123/philox.h|librandom123-dev|Random123-devel|random123|random123"
)
options=(
  "an MPI of the system, loaded at run time: the mpich wheel is used instead|has_mpi|openmpi-bin|openmpi|openmpi|openmpi"
  "OTF2 3: no timelines for Vampir|compiles_otf2|libotf2-trace-dev|otf2-devel|otf2|otf2"
)
used_by_tests=(
  "GoogleTest|compiles gtest/gtest.h -lgtest -pthread|libgtest-dev|gtest-devel|gtest|googletest"
  "OTF2's tools|tool otf2-print|otf2-tools|otf2|-|-"
  "Doxygen|tool doxygen|doxygen|doxygen|doxygen|doxygen"
  "Graphviz|tool dot|graphviz|graphviz|graphviz|graphviz"
)
options_of_tests=(
  "an MPI's headers: no C++ tests on several ranks|has_mpi_headers|libopenmpi-dev|openmpi-devel|openmpi-mpicxx|openmpi"
)
case ${1-} in
  build) ;;
  test) needs=("${used_by_tests[@]}") options=("${options_of_tests[@]}") ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

lacks() {  # the given rows whose check fails, one a line
  local row check _
  for row in "$@"; do
    IFS='|' read -r _ check _ <<<"$row"
    eval "$check" || echo "$row"
  done
}
names() {  # names in column $1 of the rows that follow
  for row in "${@:2}"; do cut -d'|' -f"$1" <<<"$row"; done | grep -vx -- - | sort -u | tr '\n' ' ' || true
}
as_root=(env DEBIAN_FRONTEND=noninteractive)
may_install() {
  tool apt-get || return
  [ "$(id -u)" -ne 0 ] || return 0
  as_root=(sudo env DEBIAN_FRONTEND=noninteractive)  # sudo drops the variables of its caller
  tool sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }
}
install() {  # packages, by apt-get; a missing one is no error here
  echo "plaq: apt-get install $*"
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" || true
}

mapfile -t missing < <(lacks "${needs[@]}")
mapfile -t optional < <(lacks "${options[@]}")
[ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || exit 0

if may_install; then
  "${as_root[@]}" apt-get update -q || true
  [ ${#missing[@]} -eq 0 ] || install $(names 3 "${missing[@]}")
  for option in "${optional[@]}"; do install $(names 3 "$option"); done  # one by one: a system may lack some
  mapfile -t missing < <(lacks "${needs[@]}")
  mapfile -t optional < <(lacks "${options[@]}")
fi
for option in "${optional[@]}"; do echo "plaq: not found: ${option%%|*}"; done
[ ${#missing[@]} -gt 0 ] || exit 0

fedora=$(names 4 "${missing[@]}") conda=$(names 5 "${missing[@]}") spack=$(names 6 "${missing[@]}")
echo "plaq: not found:"
for need in "${missing[@]}"; do echo "  ${need%%|*}"; done
echo "Packages that provide these:"
echo "  Debian, Ubuntu    apt-get install $(names 3 "${missing[@]}")"
[ -z "$fedora" ] || echo "  Fedora, RHEL      dnf install $fedora"
[ -z "$conda" ] || echo "  conda (no root)   conda install -c conda-forge $conda"
[ -z "$spack" ] || echo "  Spack (no root)   spack install $spack and spack load the same"
echo "  modules           module load a compiler, Python, Boost, MPI; module avail lists their names"
echo "CXX and PYTHON name another compiler and Python, CMAKE_PREFIX_PATH the folders of libraries."
exit 1
