#!/bin/sh
# Installs PipeMux for you alone, below ~/.local or the folder that PREFIX names. It needs no root, changes no configuration
# and no PATH, and starts nothing.
#
#   ./install.sh               of an unpacked archive: copies its bin/ and share/, and notes what it copied
#   ./install.sh ADDRESS       of a release: downloads the archive for this machine, checks its sum, and installs it
#   ./install.sh --uninstall   ends the daemon and removes exactly what was copied
#
#   curl -fsSL ADDRESS/install.sh | sh -s -- ADDRESS
#
# An address begins with https:// or file://, or is of this machine. ADDRESS/SHA256SUMS names the archives.
set -eu

fail() {
  echo "PipeMux isn't installed: $1" >&2
  exit 1
}

sums() {
  if command -v sha256sum >/dev/null; then sha256sum "$@"
  elif command -v shasum >/dev/null; then shasum -a 256 "$@"
  else fail "sha256sum and shasum are missing, so nothing can be checked: install coreutils"; fi
}

# Prints what the release has under a name. Redirections stay within the address's own protocol.
fetch() {
  curl -fsSL --proto "=${address%%://*}" "$address/$1"
}

check_address() {
  host=${address#*://}
  host=${host%%/*}
  case $address in
    *[!-A-Za-z0-9._~:/%+=\[\]]*) fail "$address has characters that no address of a release has" ;;
    https://?* | file:///?*) ;;
    http://*)
      case $host in
        127.0.0.1 | localhost | "[::1]") ;;
        127.0.0.1:* | localhost:* | "[::1]":*)
          case ${host##*:} in *[!0-9]*) fail "$host is not a host with a port" ;; esac ;;
        *) fail "http:// protects nothing on the way from $host: use https://" ;;
      esac ;;
    *) fail "$address is no address: expected https://… or file:///…" ;;
  esac
}

# The name of this machine in the names of archives.
machine() {
  case $(uname -m) in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) processor=$(uname -m) ;;
  esac
  case $(uname -s) in
    Linux) echo "$processor-unknown-linux-gnu" ;;
    Darwin) echo "$processor-apple-darwin" ;;
    *) echo "$processor-$(uname -s)" ;;
  esac
}

download() {
  address=${1%/}
  check_address
  for tool in curl tar gzip; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
  done
  directory=$(mktemp -d)
  trap 'rm -rf "$directory"' EXIT
  fetch SHA256SUMS > "$directory/SHA256SUMS" || fail "$address/SHA256SUMS can't be had: is that a release?"
  target=$(machine)
  # Sums stand before names, with two spaces between.
  line=$(grep "^[0-9a-f]\{64\}  pipemux-[A-Za-z0-9._+]*-$target\.tar\.gz\$" "$directory/SHA256SUMS") || {
    names=$(sed -n 's/^.*  pipemux-\(.*\)\.tar\.gz$/\1/p' "$directory/SHA256SUMS" | tr '\n' ' ')
    fail "the release has no archive for $target, only for: ${names:-none }· build it from the sources"
  }
  [ "$(echo "$line" | wc -l)" -eq 1 ] || fail "the release has several archives for $target"
  archive=${line#*  }
  fetch "$archive" > "$directory/$archive" || fail "$address/$archive can't be had"
  [ "$(sums < "$directory/$archive" | cut -d ' ' -f 1)" = "${line%% *}" ] ||
    fail "$archive isn't what SHA256SUMS says: try again; if it stays so, don't use this address"
  tar -xzf "$directory/$archive" -C "$directory" || fail "$archive can't be unpacked"
  PREFIX=$prefix sh "$directory/${archive%.tar.gz}/install.sh"
}

remove() {
  while IFS= read -r file; do rm -f "$prefix/$file"; done < "$list"
  rm -f "$list"
  find "$prefix/share/pipemux" -depth -type d -exec rmdir {} + 2>/dev/null || true
}

uninstall() {
  [ -f "$list" ] || { echo "PipeMux isn't installed below $prefix: there is no $list" >&2; exit 1; }
  "$prefix/bin/pipemux" down || true
  remove
  echo "removed from $prefix; your notes and edits stay in ${XDG_STATE_HOME:-$HOME/.local/state}/pipemux"
}

install_archive() {
  { [ -f SHA256SUMS ] && [ -d bin ]; } || fail "$PWD is no unpacked archive: name a release's address"
  sums -c SHA256SUMS > /dev/null || fail "the archive is damaged: unpack it again"
  ./bin/pipemux --version > /dev/null 2>&1 || fail "these programs don't run here, on $(machine): take that archive"
  if [ -f "$list" ]; then remove; fi
  mkdir -p "$prefix/share/pipemux"
  find bin share -type f | sort > "$list"
  while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # Renamed into place, so that a running program is never written to.
    cp "$file" "$prefix/$file.new"
    mv "$prefix/$file.new" "$prefix/$file"
  done < "$list"

  echo "installed below $prefix: $(./bin/pipemux --version) · what it brings: $prefix/share/pipemux/README.md"
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) printf '%s\n' "$prefix/bin is not on your PATH: echo 'export PATH=\"$prefix/bin:\$PATH\"' >> ~/.profile, and log in again" ;;
  esac
  echo "a first walk: pipemux tour · an agent's harness: pipemux setup · remove it: $prefix/share/pipemux/install.sh --uninstall"
}

# A function, so that a script that arrives cut off does nothing, and that one which removes itself goes on.
main() {
  prefix=${PREFIX:-$HOME/.local}
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  here=$(dirname "$0")
  # The copy that was installed belongs to its own prefix.
  if [ -f "$here/installed-files" ]; then prefix=$(cd "$here/../.." && pwd); fi
  list=$prefix/share/pipemux/installed-files
  case ${1-} in
    --uninstall) uninstall ;;
    "") cd "$here" && install_archive ;;
    -*) fail "unknown option $1: expected an address, --uninstall or nothing" ;;
    *) download "$1" ;;
  esac
}

main "$@"; exit
