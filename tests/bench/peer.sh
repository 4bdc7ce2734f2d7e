#!/bin/bash
# Starts a daemon of its own with 8 echo apps, for a bench that drives several systems side by side.
# Prints `pids <daemon>` and `client <command>`, and stays until it is ended; then all of it ends.
# PIPEMUX_BIN: the directory with pipemux, pipemuxd, bench-echo and bench-client (a release build).
set -e
BIN=$(cd "${PIPEMUX_BIN:-$(dirname "$0")/../../target/release}" && pwd)
HOME=$(mktemp -d "${TMPDIR:-/tmp}/pmxb.XXXXXX"); export HOME
export PIPEMUX_STATE_DIR=$HOME/state PIPEMUX_RUNTIME_DIR=$HOME/run PIPEMUX_WORKSPACE=bench
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_RUNTIME_DIR PIPEMUX_READER
mkdir -p "$HOME/.config/pipemux/apps"
end() { "$BIN/pipemux" down >/dev/null 2>&1 || true; rm -rf "$HOME"; kill $(jobs -p) 2>/dev/null || true; }
trap end EXIT; trap 'exit 0' TERM INT
printf 'id = "echo"\ncommand = "%s/bench-echo"\ndescription = "an echo"\n' "$BIN" >"$HOME/.config/pipemux/apps/echo.toml"
for i in ${PIPEMUX_ECHOES:-0 1 2 3 4 5 6 7}; do "$BIN/pipemux" open "echo/s$i" >/dev/null; done
echo "pids $("$BIN/pipemux" status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -1)"
# The client is started by whoever reads this, and finds the daemon by these.
echo "client env HOME=$HOME PIPEMUX_STATE_DIR=$PIPEMUX_STATE_DIR PIPEMUX_RUNTIME_DIR=$PIPEMUX_RUNTIME_DIR PIPEMUX_WORKSPACE=bench $BIN/bench-client"
sleep infinity & wait
