# The page of GPUs' memory in a real browser: memory_page.sh TEST_OBSERVE. Skipped where there is no Chromium.
. "$(dirname "$0")/../support/chromium.sh.inc"
"$1" --gtest_filter='MemoryHistory.PageSaysWhoHeldMemoryAtThePeak:MemoryHistory.PageFindsEventsAmongAll:MemoryHistory.EveryBlockOfATrainingLoopHasALine' > test.log 2>&1 || { cat test.log; exit 1; }
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$(dirname "$0")/memory_page.py"
