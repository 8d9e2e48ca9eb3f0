#!/usr/bin/env bash
# Installs the system packages that plaq builds on, where they are missing (Debian, Ubuntu).
set -euo pipefail
packages=(g++ cmake ninja-build make python3-dev python3-venv libopenmpi-dev openmpi-bin
          libboost-context-dev libboost-fiber-dev librandom123-dev libgtest-dev libbenchmark-dev
          libotf2-trace-dev otf2-tools graphviz)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
as_root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "plaq needs: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo "${as_root[@]}")  # sudo drops the variables of its caller
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
