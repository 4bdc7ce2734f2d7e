#!/bin/bash
# Starts a daemon of its own with an echo app, for a benchmark that drives several systems side by side.
# It prints `pids <daemon>` and `client <command>` and keeps running; when it is ended, the daemon ends too.
# PIPEMUX_BIN is the directory of a release build with pipemuxd, bench-echo and bench-client.
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
# The reader of this line starts the client, which finds the daemon by these variables.
echo "client env HOME=$HOME PIPEMUX_STATE_DIR=$PIPEMUX_STATE_DIR PIPEMUX_RUNTIME_DIR=$PIPEMUX_RUNTIME_DIR PIPEMUX_WORKSPACE=bench $BIN/bench-client"
wait "$DAEMON"
