#!/usr/bin/env bash
# Installs the browser (Chromium) in which a test opens the page of ripc report. On Debian 12 about 90 MB are downloaded.
# Debian and Ubuntu only. When nothing is missing it does nothing, in a blink.
#
#   scripts/setup-browser.sh           install
#   scripts/setup-browser.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

. "$(dirname "$0")/apt.sh"

if command -v chromium >/dev/null; then
	say "Chromium is there; nothing to do"
	exit 0
fi
say "missing: chromium"
[ "${1:-}" != --check ] || exit 1

apt_update
apt_install chromium
say "done"
