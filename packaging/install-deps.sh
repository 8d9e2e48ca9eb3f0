#!/usr/bin/env bash
# Looks for what plaq is built from, by trying it and not by asking a package manager. What is missing is installed
# where apt-get is there with the rights to use it; else this says what is missing, what each system calls it, and
# ends with exit code 1.
#   packaging/install-deps.sh build     what `make demo` needs
#   packaging/install-deps.sh test      what only the tests use as well
# CXX and PYTHON name the compiler and the Python to look at. Folders in CONDA_PREFIX and CMAKE_PREFIX_PATH are searched.
set -euo pipefail

cxx=${CXX:-c++}
python=${PYTHON:-python3}
flags=(-std=c++20)
IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}:${CONDA_PREFIX:-}"
for prefix in "${prefixes[@]}"; do
  [ -z "$prefix" ] || flags+=("-I$prefix/include" "-L$prefix/lib" "-L$prefix/lib64")
done

compiles() {  # a program that includes the header $1 and is linked with the further arguments
  # Not by a pipe: a compiler that ends before it has read all would leave an error of the writer's.
  "$cxx" "${flags[@]}" -x c++ - -o /dev/null "${@:2}" <<<"#include <$1>"$'\n''int main() {}' 2>/dev/null
}
compiles_eigen() { compiles unsupported/Eigen/FFT || compiles eigen3/unsupported/Eigen/FFT -I/usr/include/eigen3; }
python_has() { "$python" -c "$1" 2>/dev/null; }
tool() { command -v "$1" >/dev/null; }

# What it is, how it is found, and its name for Debian and Ubuntu, Fedora, conda-forge and Spack; - where it is part of
# something else. MPI is not among them: without one, plaq takes the mpich wheel (see the Makefile).
needs=(
  "a C++20 compiler (GCC 12 or later, Clang 16 or later)|compiles source_location|g++|gcc-c++|cxx-compiler|gcc"
  "make|tool make|make|make|make|gmake"
  "Python 3.11 or later|python_has 'import sys; assert sys.version_info >= (3, 11)'|python3|python3|python|python"
  "Python's venv and pip|python_has 'import venv, ensurepip'|python3-venv|-|-|-"
  "Python's headers|python_has 'import os, sysconfig; os.stat(sysconfig.get_path(\"include\") + \"/Python.h\")'|python3-dev|python3-devel|-|-"
  "Boost.Context|compiles boost/context/detail/fcontext.hpp -lboost_context|libboost-context-dev|boost-devel|libboost-devel|boost+context"
  "Random123|compiles Random123/philox.h|librandom123-dev|Random123-devel|random123|random123"
)
used_by_tests=(
  "GoogleTest|compiles gtest/gtest.h -lgtest -pthread|libgtest-dev|gtest-devel|gtest|googletest"
  "Eigen (transforms of meshes)|compiles_eigen|libeigen3-dev|eigen3-devel|eigen|eigen"
  "OTF2 3 (timelines for Vampir)|compiles otf2/otf2.h|libotf2-trace-dev|otf2-devel|otf2|otf2"
  "OTF2's tools|tool otf2-print|otf2-tools|otf2|-|-"
  "Graphviz|tool dot|graphviz|graphviz|graphviz|graphviz"
)
case ${1-} in
  build) ;;
  test) needs=("${used_by_tests[@]}") ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

missing=()
look() {  # what is missing, as rows of the table
  missing=()
  local need check _
  for need in "${needs[@]}"; do
    IFS='|' read -r _ check _ <<<"$need"
    eval "$check" || missing+=("$need")
  done
}
names() {  # what column $1 of the table calls what is missing
  for need in "${missing[@]}"; do cut -d'|' -f"$1" <<<"$need"; done | grep -vx -- - | sort -u | tr '\n' ' '
}

look
mpi=
[ "$1" = test ] || tool mpicxx || tool mpic++ || mpi="libopenmpi-dev openmpi-bin"
[ ${#missing[@]} -gt 0 ] || [ -n "$mpi" ] || exit 0

if tool apt-get; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" -ne 0 ]; then
    as_root=()
    if tool sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo env DEBIAN_FRONTEND=noninteractive)  # sudo drops the variables of its caller
    fi
  fi
  if [ ${#as_root[@]} -gt 0 ]; then
    wanted="$([ ${#missing[@]} -eq 0 ] || names 3)$mpi"
    echo "plaq: apt-get install $wanted"
    "${as_root[@]}" apt-get update -q && "${as_root[@]}" apt-get install -y -q --no-install-recommends $wanted || true
    look
  fi
fi
[ ${#missing[@]} -gt 0 ] || exit 0

fedora=$(names 4) conda=$(names 5) spack=$(names 6)
echo "plaq does not find:"
for need in "${missing[@]}"; do echo "  ${need%%|*}"; done
echo "What has it, and its names there:"
echo "  Debian, Ubuntu    apt-get install $(names 3)"
[ -z "$fedora" ] || echo "  Fedora, RHEL      dnf install $fedora"
[ -z "$conda" ] || echo "  conda (no root)   conda install -c conda-forge $conda"
[ -z "$spack" ] || echo "  Spack (no root)   spack install $spack and spack load the same"
echo "  modules           module load a compiler, Python, Boost, MPI; module avail lists their names"
echo "CXX and PYTHON name another compiler and Python, CMAKE_PREFIX_PATH the folders of libraries."
exit 1
