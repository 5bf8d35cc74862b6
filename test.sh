#!/usr/bin/env bash
# Builds everything and runs every test. Needs Go and nothing else.
set -euo pipefail
cd "$(dirname "$0")"

need=1.26

fail() {
	echo "test.sh: $*" >&2
	exit 1
}

command -v go >/dev/null ||
	fail "Go is missing: install Go $need or later from go.dev and put its bin folder on PATH"

have=$(go env GOVERSION)
have=${have#go}
[ "$(printf '%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ] ||
	fail "Go $have is too old: install Go $need or later"

go build ./... || fail "the build failed, see above"
go vet ./... || fail "go vet found something, see above"
go test -timeout 10m ./... || fail "tests failed, see above; rerun one with: go test ./PACKAGE -run NAME"
