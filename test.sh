#!/usr/bin/env bash
# Builds everything and runs every test. Needs Go, and a PostgreSQL server, 15 or later, whose tests start one of
# their own; where it is missing and can be installed, it is.
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

postgres() {
	command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}
if ! postgres && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	# The tests need its programs, and no server that runs beside them.
	mkdir -p /etc/postgresql-common
	[ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
	apt-get install -y postgresql || { apt-get update && apt-get install -y postgresql; } ||
		fail "PostgreSQL could not be installed, see above"
fi
postgres ||
	fail "PostgreSQL is missing: install version 15 or later, on Debian with: sudo apt-get install postgresql; or put its bin folder on PATH"

go build ./... || fail "the build failed, see above"
go vet ./... || fail "go vet found something, see above"
go test -timeout 20m ./... || fail "tests failed, see above; rerun one with: go test ./PACKAGE -run NAME"
