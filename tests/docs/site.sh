#!/bin/bash
# The site of ./dev docs in a real browser, opened from disk: site.sh GENERATED. Skipped where Doxygen, its theme or Chromium is missing.
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "SKIPPED: $1"; exit 77; }
command -v doxygen > /dev/null && [ -d /usr/share/doxygen-awesome-css ] || skip "there is no Doxygen with its theme (apt-get install doxygen doxygen-awesome-css)"
. "$here/../support/chromium.sh.inc"
export PYTHONDONTWRITEBYTECODE=1
"$here/../../docs/site/build" --missing "$1" site || { echo "the site was not built, or something has no comment"; exit 1; }
timeout 300 python3 "$here/site.py" "$(pwd)/site/html"
