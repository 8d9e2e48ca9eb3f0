#!/usr/bin/env bash
# Tries plaq as its users get it: an empty environment, no package but what pip brings, a folder with unlucky names in
# it, a home that cannot be written, the locale C; there the first inputs of the three applications, on 1 and on 2 ranks.
# Prints times and the size of what pip fetched.
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
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
bin=$place/env/bin
begin=$EPOCHREALTIME
"$bin/pip" install --progress-bar off "$what" >"$place/pip.log" 2>&1 || { tail -20 "$place/pip.log" >&2; fail "pip cannot install $what"; }
fetched=$(awk '/^ *(Downloading|Using cached) .*\(/ {sub(/.*\(/, ""); size = $1; if (/kB/) size /= 1000; if (/bytes/) size /= 1e6; sum += size}
               END {printf "%.0f MB", sum}' "$place/pip.log")
say "pip: $(since "$begin"), $fetched fetched, $(du -sm "$place/env" | cut -f1) MB installed"

mkdir -p "$place/runs/Läufe und mehr"
cd "$place/runs/Läufe und mehr"
for name in random plaq numpy json typing; do echo "raise SystemExit('the $name.py of the user ran')" >"$name.py"; done
cp random.py json.py "$bin"  # beside the command too, as in ~/.local/bin
export HOME=/proc/nobody PATH=$bin:$PATH
plaq --version
plaq info

run() {  # NAME FOLDER COMMAND...: runs it, and leaves its digest in $digest
  local name=$1 folder=$2 began=$EPOCHREALTIME
  shift 2
  "$@" --out "$folder" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; fail "$* --out $folder"; }
  digest=$(sed -n 's/^digest: \([0-9a-f]*\).*/\1/p' "$folder.log")
  [ -n "$digest" ] && [ -s "$folder/report.html" ] || { cat "$folder.log" >&2; fail "$name left no digest or no report"; }
  ! grep -E 'Warning|Matplotlib' "$folder.log" >&2 || fail "$name printed what its user cannot mend"
  say "$name: $(since "$began"), result $(since "$begin") after pip began, digest ${digest:0:12}"
}
alike() { [ "$digest" = "$alone" ] || fail "$1: another digest than on 1 rank"; }

mpi=$(python -P -c 'from plaq.comm import library_version; print(library_version())')
for application in dca lqcd pic; do
  plaq new "$application" "first $application" >/dev/null
  input="first $application/input.toml"
  plaq "$application" check "$input" >"$application.check" || fail "$application check"
  run "$application, 1 rank" "$application" plaq "$application" run "$input"
  alone=$digest
  [ -n "$mpi" ] || continue
  run "$application, 2 ranks" "$application-2" plaq "$application" run "$input" -n 2
  alike "$application, 2 ranks"
done
if [ -n "$mpi" ]; then
  # As users and batch scripts start ranks; the variables let Open MPI 4 and 5 do so for root, and on one core.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  launcher=$(python -P -c 'from plaq.comm.launch import launcher_command; print(launcher_command(2)[0])')
  run "pic, 2 ranks by ${launcher##*/}" launched "$launcher" -n 2 plaq pic run "$input"
  alike "pic under $launcher"
else
  code=0
  plaq pic run "$input" -n 2 --out none >none.log 2>&1 || code=$?
  [ $code = 2 ] && [ "$(wc -l <none.log)" = 1 ] && [ ! -e none ] || fail "-n 2 without an MPI ended with $code: $(cat none.log)"
  say "no MPI, and -n 2 says so: $(cat none.log)"
fi
plaq verify pic >verify.log || fail "plaq verify"
say "passed: $(plaq --version)"
