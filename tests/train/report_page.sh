# Reports of one, three and twelve curves in a real browser: report_page.sh TEST_TRAIN. Skipped where there is no Chromium.
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || {
  echo "SKIPPED: there is no Chromium to open reports with (apt-get install chromium)"
  exit 77
}
"$1" --gtest_filter=Report.OfOneThreeAndTwelveCurves > test.log 2>&1 || { cat test.log; exit 1; }
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$(dirname "$0")/report_page.py"
