#!/bin/bash
# Measures the memory of an idle connection and of an idle session in the daemon, and whether a call among
# 1,000 sessions in 100 workspaces costs as much as among 8, with everything on one CPU. It needs Linux, and
# PIPEMUX_BIN as in peer.sh.
cd "$(dirname "$0")"
start() { exec 5< <(exec taskset -c 0 bash ./peer.sh x); read -r _ PID <&5; read -r _ CLIENT <&5; }
stop() { kill -TERM "$PID"; while kill -0 "$PID" 2>/dev/null; do sleep 0.05; done; exec 5<&-; }
memory() { awk '/^Private_Dirty/ {kib += $2} END {print kib}' "/proc/$PID/smaps_rollup"; }
fill() { coproc FILL { exec ${CLIENT%bench-client}bench-fill "$@"; }; read -r _ <&"${FILL[0]}"; }
empty() { exec {FILL[1]}>&-; wait "$FILL_PID"; }
calls() { for _ in 1 2 3 4 5; do echo "lat 64 3000"; done | ${1:-} $CLIENT | awk '/^[0-9]/ {print $1}' | sort -n | sed -n 3p; }
pinned() { taskset -c 0 "$@"; }
start
before=$(memory); fill 0 1 500; echo "idle connection: $((($(memory) - before) * 1024 / 500)) bytes"; empty; stop
start
few=$(calls pinned); before=$(memory); fill "${1:-1000}" 100 0
echo "idle session: $((($(memory) - before) * 1024 / ${1:-1000})) bytes"
many=$(calls pinned)
echo "a call: $few ns with 8 sessions, $many ns with $((${1:-1000} + 8)) in 101 workspaces: $(awk "BEGIN {printf \"%.2f\", $many / $few}") times"
empty; stop
