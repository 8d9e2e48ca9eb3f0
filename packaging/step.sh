#!/usr/bin/env bash
# packaging/step.sh WHAT COMMAND...: runs a command of the build and reports name, progress and time in one line. The
# output of the command goes to build/make.log; if it fails, its last lines are shown too.
set -uo pipefail
what=$1
shift
log=build/make.log
mkdir -p build
printf '\n== %s: %s\n' "$what" "$*" >>"$log"
begin=$(wc -l <"$log")
[ -t 1 ] && live=yes || live=no
[ $live = no ] || printf 'plaq: %s ...' "$what"

shown=0
"$@" 2>&1 | while IFS= read -r line; do
  printf '%s\n' "$line" >>"$log"
  [[ $line != plaq:* ]] || { [ $live = no ] || printf '\r\e[K'; printf '%s\n' "$line"; }
  [[ $line =~ \[([0-9]+)/([0-9]+)\] ]] || continue  # ninja's count
  at=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
  if [ $live = yes ]; then
    printf '\r\e[Kplaq: %s ... %d of %d, %d s' "$what" "$at" "$all" $SECONDS
  elif ((all > 20 && 10 * at / all > shown)); then
    shown=$((10 * at / all))
    printf 'plaq: %s ... %d of %d, %d s\n' "$what" "$at" "$all" $SECONDS
  fi
done
code=${PIPESTATUS[0]}

[ $live = no ] || printf '\r\e[K'
if [ "$code" -eq 0 ]; then
  printf 'plaq: %s: done in %d s\n' "$what" $SECONDS
else
  tail -n +"$((begin + 1))" "$log" | { grep -A 8 -E -m 3 '(error|Error|ERROR)[: ]|CMake Error' || tail -n "+$((begin + 1))" "$log" | tail -25; } >&2
  echo "plaq: $what failed after $SECONDS s; its output is in $log" >&2
fi
exit "$code"
