#!/usr/bin/env bash
# Tries plaq as its users get it: an empty environment, no package but what pip brings, a folder with unlucky names in
# it, a home that cannot be written, the locale C; there the three applications on 1 and on 2 ranks. Prints times and
# the size of what pip fetched.
#   packaging/try-wheel.sh WHAT [FOLDER]
# WHAT is anything that pip installs: dist/plaq-….whl, the same with [mpi] behind it, plaq-….tar.gz, a checkout.
# FOLDER keeps the environment (env) and the runs (runs); without it they are removed. PYTHON makes the environment.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
file=${1%%\[*} extras=${1#"${1%%\[*}"}
case $file in
  */* | *.whl | *.gz | .) what=$(realpath -e "$file")$extras ;;
  *) what=$1 ;;
esac
if [ $# -gt 1 ]; then
  mkdir -p "$2"
  place=$(realpath "$2")
  rm -rf "$place/env" "$place/runs"
else
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
fi

say() { printf 'try-wheel: %s\n' "$*"; }
fail() { say "error: $*" >&2; exit 1; }
since() { awk -v now="$EPOCHREALTIME" -v then="$1" 'BEGIN {printf "%.1f s", now - then}'; }

export LC_ALL=C
"${PYTHON:-python3}" -m venv "$place/env"
begin=$EPOCHREALTIME
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
bin=$place/env/bin
"$bin/pip" install --progress-bar off "$what" >"$place/pip.log" 2>&1 || { tail -20 "$place/pip.log" >&2; fail "pip cannot install $what"; }
fetched=$(awk '/^ *(Downloading|Using cached) .*\(/ {sub(/.*\(/, ""); size = $1; if (/kB/) size /= 1000; if (/bytes/) size /= 1e6; sum += size}
               END {printf "%.0f MB", sum}' "$place/pip.log")
say "pip: $(since "$begin"), $fetched fetched, $(du -sm "$place/env" | cut -f1) MB installed"

runs="$place/runs/Läufe und mehr"
mkdir -p "$runs"
cd "$runs"
for name in random plaq numpy json typing; do echo "raise SystemExit('the $name.py of the user ran')" >"$name.py"; done
export HOME=/proc/nobody PATH=$bin:$PATH
plaq --version
plaq info

cat >dca.toml <<'I'
[model]
U = 4.0
[dca]
temperatures = [1.0]
mu = 2.0
isolated = true
[solver]
measurements = 200
chains = 4
I
cat >pic.toml <<'I'
[grid]
cells = [64]
length = [2.0]
[time]
end = 1
[fields]
of_charges = true
[species.electrons]
charge = -1
mass = 1
density = "1 + 0.01*cos(pi*x)"
per_cell = 10
placed = "even"
I
cat >lqcd.toml <<'I'
[lattice]
extents = [4, 4, 4, 4]
[action]
beta = 5.7
[updates]
thermalisation = 5
configurations = 5
I

run() {  # NAME FOLDER COMMAND...: the digest of a run, in $digest
  local name=$1 folder=$2 began=$EPOCHREALTIME
  shift 2
  "$@" --out "$folder" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; fail "$* --out $folder"; }
  digest=$(sed -n 's/^digest: //p' "$folder.log")
  [ -n "$digest" ] || { cat "$folder.log" >&2; fail "$name printed no digest"; }
  [ -s "$folder/report.html" ] || fail "$name wrote no report"
  say "$name: $(since "$began"), $(since "$begin") after pip began, digest ${digest:0:12}"
}
mpi=$(python -P -c 'from plaq.comm import library_version; print(library_version())')
for application in dca pic lqcd; do
  plaq "$application" check "$application.toml" >check.log || fail "$application check"
  run "$application, 1 rank" "$application" plaq "$application" run "$application.toml"
  alone=$digest
  if [ -n "$mpi" ]; then
    run "$application, 2 ranks by -n" "$application-2" plaq "$application" run "$application.toml" -n 2
    [ "$digest" = "$alone" ] || fail "$application has another digest on 2 ranks"
  fi
done
if [ -n "$mpi" ]; then
  read -ra launcher < <(python -P -c 'from plaq.comm.launch import launcher_command; print(*launcher_command(2))')
  run "lqcd, 2 ranks by ${launcher[0]##*/}" launched "${launcher[@]}" plaq lqcd run lqcd.toml
  [ "$digest" = "$alone" ] || fail "lqcd has another digest under ${launcher[0]}"
else
  code=0
  plaq lqcd run lqcd.toml -n 2 --out none >none.log 2>&1 || code=$?
  [ $code = 2 ] && [ "$(wc -l <none.log)" = 1 ] && [ ! -e none ] || fail "-n 2 without an MPI ended with $code: $(cat none.log)"
  say "no MPI, and -n 2 says so: $(cat none.log)"
fi
plaq verify lqcd >verify.log || fail "verify"
say "passed: $(plaq --version)"
