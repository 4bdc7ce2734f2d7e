#!/bin/bash
# Starts a daemon of its own that has an echo app, for a bench that drives several systems side by side.
# Prints `pids <daemon>` and `client <command>`, and stays until it is ended; then all of it ends.
# PIPEMUX_BIN: the directory with pipemuxd, bench-echo and bench-client (a release build).
set -e
BIN=$(cd "${PIPEMUX_BIN:-$(dirname "$0")/../../target/release}" && pwd)
HOME=$(mktemp -d "${TMPDIR:-/tmp}/pmxb.XXXXXX"); export HOME
export PIPEMUX_STATE_DIR=$HOME/state PIPEMUX_RUNTIME_DIR=$HOME/run PIPEMUX_WORKSPACE=bench
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_RUNTIME_DIR PIPEMUX_READER
mkdir -p "$HOME/.config/pipemux/apps"
printf 'id = "echo"\ncommand = "%s/bench-echo"\ndescription = "an echo"\n' "$BIN" >"$HOME/.config/pipemux/apps/echo.toml"
"$BIN/pipemuxd" serve >"$HOME/said" 2>"$HOME/log" & DAEMON=$!
end() { kill "$DAEMON" 2>/dev/null || true; wait "$DAEMON" 2>/dev/null || true; rm -rf "$HOME"; }
trap end EXIT; trap 'exit 0' TERM INT
until grep -q ready "$HOME/said"; do kill -0 "$DAEMON"; sleep 0.02; done
echo "pids $DAEMON"
# The client is started by whoever reads this, and finds the daemon by these.
echo "client env HOME=$HOME PIPEMUX_STATE_DIR=$PIPEMUX_STATE_DIR PIPEMUX_RUNTIME_DIR=$PIPEMUX_RUNTIME_DIR PIPEMUX_WORKSPACE=bench $BIN/bench-client"
wait "$DAEMON"
