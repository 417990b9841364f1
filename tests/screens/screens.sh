# Two sizes of each page, a phone's in the dark and a laptop's in the light: screens.sh TANDEM EXAMPLES. Skipped where there is no Chromium, or no board.
. "$(dirname "$0")/../support/chromium.sh.inc"
mkdir -p empty
case $("$1" board empty --json 2>&1) in *libcpp-httplib-dev*) echo "SKIPPED: the board was not built: apt-get install libcpp-httplib-dev"; exit 77 ;; esac
PYTHONDONTWRITEBYTECODE=1 timeout 550 python3 "$(dirname "$0")/screens.py" "$1" --examples "$2" --quick --only board1 --only report --only flames --only memory
