# Reports of one, three and twelve curves in a real browser: report_page.sh TEST_TRAIN. Skipped where there is no Chromium.
. "$(dirname "$0")/../support/chromium.sh.inc"
"$1" --gtest_filter=Report.OfOneThreeAndTwelveCurves > test.log 2>&1 || { cat test.log; exit 1; }
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$(dirname "$0")/report_page.py"
