#!/usr/bin/env bash
# Provides a Chromium for the browser tests: an installed one, otherwise Debian's.
# If none can be installed, it says so and exits with 0; the tests are then skipped, each with a printed reason.
set -euo pipefail

for name in "${SOGAR_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [[ -n "$name" ]] && command -v "$name" >/dev/null; then
        exit 0
    fi
done

if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo 'installing Chromium for the browser tests (apt-get install chromium)'
    if { apt-get install -qq -y --no-install-recommends chromium ||
        { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; }; } >/dev/null 2>&1; then
        exit 0
    fi
    echo 'Chromium could not be installed.'
fi
echo 'THE BROWSER TESTS WILL BE SKIPPED: there is no Chromium.'
echo 'Install it (Debian: apt-get install chromium), or set SOGAR_CHROMIUM to a browser of its kind.'
