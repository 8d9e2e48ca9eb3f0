#!/usr/bin/env bash
# packaging/cross.sh MACHINE builds plaq for another machine, aarch64 (ARM) or ppc64le (POWER), on Debian 12 with Debian's
# cross compiler. QEMU runs the C++ tests and, for ARM, each application in a root folder of that machine; for POWER,
# Debian 12 has a numpy that is too old, and PyPI has none. It leaves a wheel in dist/, all else in build-cross/MACHINE/.
# Root's rights are needed: it installs packages, and registers QEMU with the kernel where it is not registered.
#   packaging/cross.sh aarch64 build      the wheel and the tests, not run
#   packaging/cross.sh aarch64 test       the C++ tests; further arguments are ctest's
#   packaging/cross.sh aarch64 run        the applications, ARM only
#   packaging/cross.sh aarch64 shell ...  a command in that root folder
set -euo pipefail
cd "$(dirname "$0")/.."
machine=${1-} what=${2-all}
case $machine in
  aarch64) debian=arm64 processor=cortex-a72 ;;
  ppc64le) debian=ppc64el processor=power9 ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
triple=${machine/ppc64le/powerpc64le}-linux-gnu
work=$PWD/build-cross/$machine root=$PWD/build-cross/$machine/root
export QEMU_CPU=$processor QEMU_LD_PREFIX=$root  # what the baseline has to run on

libraries=libstdc++-12-dev,libboost-context-dev,librandom123-dev,libgtest-dev,libotf2-trace-dev
python=python3-dev

make_root() {
  local tools=(g++-"$triple" mmdebstrap qemu-user-static ninja-build)
  dpkg -s "${tools[@]}" >/dev/null 2>&1 ||
    { apt-get update -q; DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${tools[@]}"; }
  [ ! -e "$root/made" ] || return 0
  rm -rf "$root"
  # Unpacked only: no program of that machine runs for it.
  mmdebstrap --variant=extract --arch=$debian --include="base-files,bash,coreutils,$libraries,$python" bookworm "$root"
  # What the packages' scripts would do: links that lead to the same files from outside.
  find "$root" -type l -lname '/*' | while read -r link; do ln -snfr "$root$(readlink "$link")" "$link"; done
  touch "$root/made"
}

build() {
  [ -x "$work/env/bin/pip" ] || python3 -m venv "$work/env"
  "$work/env/bin/python" packaging/requirements.py wheel >"$work/requirements.txt"
  "$work/env/bin/pip" install -q -r "$work/requirements.txt"
  # Python's own variables for cross builds: tag of the wheel, ending of the module.
  _PYTHON_HOST_PLATFORM=linux-$machine SETUPTOOLS_EXT_SUFFIX=.cpython-311-$triple.so PATH=$work/env/bin:$PATH \
    "$work/env/bin/pip" wheel -v . --no-build-isolation --no-deps -w "$work/wheel" \
    --config-settings=build-dir="$work/build" --config-settings=cmake.define.PLAQ_TESTS=ON \
    --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/packaging/cmake/cross.cmake" \
    --config-settings=cmake.define.PLAQ_MACHINE="$machine" --config-settings=cmake.define.PLAQ_SYSROOT="$root" \
    --config-settings=cmake.define.Python_INCLUDE_DIR="$root/usr/include/python3.11" \
    --config-settings=cmake.define.nanobind_DIR="$("$work/env/bin/python" -m nanobind --cmake_dir)"
  mkdir -p dist
  cp "$work"/wheel/plaq-*.whl dist/
}

in_root() {  # a command in the root folder, with the kernel's own folders
  local registered=/proc/sys/fs/binfmt_misc
  [ -e $registered/register ] || mount -t binfmt_misc binfmt_misc $registered
  [ -e $registered/qemu-"$machine" ] || cat /usr/lib/binfmt.d/qemu-"$machine".conf >$registered/register
  # shellcheck disable=SC2016
  ROOT=$root unshare --mount --propagation private bash -euc '
    mount --rbind /proc "$ROOT/proc"; mount --rbind /dev "$ROOT/dev"; mount --rbind /sys "$ROOT/sys"
    exec chroot "$ROOT" "$@"' chroot "$@"
}

# Tests of what ends a process are left out: QEMU ignores the kernel's call for guards, and has a message of its own.
run_tests() {
  ctest --test-dir "$work/build" --output-on-failure --timeout 1000 --exclude-regex BackendsDeathTest "$@"
}

run_applications() {
  # plaq and what it imports, unpacked by this machine's pip.
  "$work/env/bin/pip" install -q --upgrade --only-binary=:all: --target "$root/usr/local/lib/python3.11/dist-packages" \
    --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 --platform linux_aarch64 "$work"/wheel/plaq-*.whl
  rm -rf "$root/runs"
  mkdir "$root/runs"
  cp -r examples "$root/runs/"
  # One site: under QEMU a plaquette takes more than 19 minutes.
  run_application dca tc_plaquette/demo "model.cluster=[[1,0],[0,1]]" dca.temperatures=[1.0] solver.measurements=300 \
    two_particle.measurements=auto
  run_application pic two_stream/input time.end=2
  run_application lqcd quenched/input lattice.extents=[4,4,4,4] updates.thermalisation=1 updates.configurations=2
}
run_application() {  # name, input, settings
  local name=$1 input=$2
  shift 2
  in_root bash -ec 'cd runs; exec python3 -m plaq "$@"' bash "$name" run "examples/$input.toml" --out "$name" "${@/#/--set=}"
}

case $what in
  all) make_root; build; run_tests; [ "$machine" != aarch64 ] || run_applications ;;
  build) make_root; build ;;
  test) run_tests "${@:3}" ;;
  run) run_applications ;;
  shell) in_root "${@:3}" ;;
  *) echo "packaging/cross.sh: '$what' may be build, test, run or shell" >&2; exit 2 ;;
esac
