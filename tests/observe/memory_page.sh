# The page of GPUs' memory in a real browser: memory_page.sh TEST_OBSERVE. Skipped where there is no Chromium.
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || {
  echo "SKIPPED: there is no Chromium to open the page with (apt-get install chromium)"
  exit 77
}
"$1" --gtest_filter='MemoryHistory.PageSaysWhoHeldMemoryAtThePeak:MemoryHistory.PageFindsEventsAmongAll:MemoryHistory.EveryBlockOfATrainingLoopHasALine' > test.log 2>&1 || { cat test.log; exit 1; }
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$(dirname "$0")/memory_page.py"
