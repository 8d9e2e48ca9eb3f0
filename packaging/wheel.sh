#!/usr/bin/env bash
# Builds in dist/ the source archive and wheels: one for Python 3.11, and one by the stable interface of Python 3.12 for
# all later ones. Each is made if there is a Python for it; PYTHONS names others than those on the PATH. Nothing but the
# C library and that of C is needed at run time: those of C++, Boost.Context and OTF2 are linked in, MPI is loaded when
# a job has ranks. auditwheel names the oldest C library that will do, which is that of the machine or image that builds.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-wheel
mkdir -p "$work" dist

declare -A pythons
known=("${PYTHON:-python3}" python3.{11..19})
for python in ${PYTHONS:-"${known[@]}"}; do
  if interface=$("$python" -c 'import ensurepip, os, sys, sysconfig, venv
os.stat(sysconfig.get_path("include") + "/Python.h")
print("cp311" if sys.version_info < (3, 12) else "cp312-abi3")' 2>"$work/why.log"); then
    [ -v "pythons[$interface]" ] || pythons[$interface]=$python
  elif [ -n "${PYTHONS:-}" ]; then
    echo "error: no wheel can be built with $python: $(tail -1 "$work/why.log")" >&2
    exit 1
  fi
done
[ ${#pythons[@]} -gt 0 ] || { echo "error: there is no Python with its headers and venv" >&2; exit 1; }

for interface in "${!pythons[@]}"; do
  python=${pythons[$interface]} bin=$work/$interface/bin built=$work/$interface/wheel
  echo "plaq: wheel $interface by $("$python" --version)"
  "$python" -m venv "$work/$interface"
  "$bin/python" packaging/requirements.py wheel >"$work/requirements.txt"
  "$bin/pip" install -q -r "$work/requirements.txt"
  rm -rf "$built"
  # The linker's flags: a C++ library that others have in this process must not meet this one's.
  PATH=$bin:$PATH "$bin/pip" wheel -v . --no-build-isolation --no-deps -w "$built" \
    --config-settings=build-dir=build-wheel --config-settings=wheel.py-api=cp312 \
    --config-settings=cmake.define.CMAKE_MODULE_LINKER_FLAGS="-static-libstdc++ -Wl,--exclude-libs,ALL"
  rm -f dist/plaq-*-"$interface"-*.whl
  PATH=$bin:$PATH "$bin/auditwheel" repair --plat auto --only-plat -w dist "$built"/plaq-*.whl
  for wheel in dist/plaq-*-"${interface%-*}"-*.whl; do echo "plaq: $wheel, $(du -h --apparent-size "$wheel" | cut -f1)"; done
done

# The source archive is of the commit, which `git archive` writes into it; a tree without git is packed as it is.
source=$PWD
if [ -e .git ]; then
  source=$work/source
  rm -rf "$source" && mkdir "$source"
  git archive HEAD | tar -x -C "$source"
  git diff --quiet HEAD || echo "plaq: the source archive is of HEAD, without the changes of this checkout"
fi
(cd "$source" && "$bin/python" -c "from scikit_build_core.build import build_sdist; build_sdist('$work/archive')")
mv "$work"/archive/plaq-*.tar.gz dist/
for archive in dist/plaq-*.tar.gz; do echo "plaq: $archive, $(du -h --apparent-size "$archive" | cut -f1)"; done
