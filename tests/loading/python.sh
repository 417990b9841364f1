# Opens the library from Python.
python3=$(command -v python3) || { echo "no python3 to open the library with"; exit 77; }
"$python3" "$(dirname "$0")/open.py" "$1" "$2"
