#!/usr/bin/env bash
# Prints what a release says of itself: how it is installed, and its section of CHANGELOG.md. The argument is the tag, v and the
# version of Cargo.toml; GITHUB_SERVER_URL and GITHUB_REPOSITORY say where it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
tag=$1 version=${1#v}
fail() { echo "$1" >&2; exit 1; }
grep -qxF "version = \"$version\"" Cargo.toml || fail "$tag: Cargo.toml has another version"
section=$(awk -v title="[$version]" '$1 == "##" { inside = $2 == title; next } inside' CHANGELOG.md)
[[ -n $section ]] || fail "$tag: CHANGELOG.md has no section [$version]"
address=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/releases/download/$tag
printf '```sh\ncurl -fsSL %s/install.sh | sh -s -- %s\n```\n\n%s\n' "$address" "$address" "$section"
