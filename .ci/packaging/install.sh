#!/bin/sh
# Installs PipeMux for you alone, below ~/.local or the folder that PREFIX names. It copies the files of this archive,
# needs no root, changes no configuration and no PATH, and starts nothing.
#
#   ./install.sh               copies bin/ and share/, and notes what it copied
#   ./install.sh --uninstall   ends the daemon and removes exactly that
set -eu
cd "$(dirname "$0")"
prefix=${PREFIX:-$HOME/.local}
list=$prefix/share/pipemux/installed-files

remove() {
  while IFS= read -r file; do rm -f "$prefix/$file"; done < "$list"
  rm -f "$list"
  rmdir "$prefix/share/pipemux" 2>/dev/null || true
}

case ${1-} in
  --uninstall)
    [ -f "$list" ] || { echo "PipeMux isn't installed below $prefix: there is no $list" >&2; exit 1; }
    "$prefix/bin/pipemux" down || true
    remove
    echo "removed from $prefix; your notes and edits stay in ${XDG_STATE_HOME:-$HOME/.local/state}/pipemux"
    exit ;;
  "") ;;
  *) echo "unknown option $1: --uninstall is the only one" >&2; exit 2 ;;
esac

if command -v sha256sum >/dev/null; then sha256sum --quiet -c SHA256SUMS; fi
if [ -f "$list" ]; then remove; fi
mkdir -p "$prefix/share/pipemux"
find bin share -type f | sort > "$list"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # Renamed into place, so that a running program is never written to.
  cp "$file" "$prefix/$file.new"
  mv "$prefix/$file.new" "$prefix/$file"
done < "$list"

echo "installed below $prefix: $(ls bin | tr '\n' ' ')"
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) echo "put it on your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
echo "a first walk: pipemux tour · an agent's harness: pipemux setup --help · remove it: $PWD/install.sh --uninstall"
