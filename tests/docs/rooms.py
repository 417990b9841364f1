"""A room of src/ includes only rooms below it, in the order of the table of docs/architecture.md, but for the arrows that the page names. A
folder in a room includes the room's own files, and of its other folders only those that the page names; so do the room's own files. The
repository holds no file beside its rooms, such as one that a test wrote: rooms.py ROOT."""

import pathlib
import re
import subprocess
import sys

known = set(""".ci .clang-format .clang-tidy .dockerignore .editorconfig .github .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md
LICENSE README.md SECURITY.md bench cmake dev docs examples packaging python src tests""".split())

root = pathlib.Path(sys.argv[1]).resolve()
page = (root / "docs/architecture.md").read_text()
rooms = list(dict.fromkeys(re.findall(r"`src/(\w+)/`", "\n".join(re.findall(r"^\|.*?\|", page, re.M)))))
picture = (root / "docs/images/rooms.svg").read_text()
drawn = re.findall(r'class="name" x="34" y="\d+">(\w+)<', picture)
named = set(re.findall(r"^- `([\w/]+)` includes `([\w/]+)`:", page, re.M))
faults, up = [], set()


def folder_of(path):
    """The room that a file of src/ stands in, with the folder in it, where it stands in one."""
    return "/".join(path.split("/")[:-1][:2])


folders = {folder.name for folder in (root / "src").iterdir() if folder.is_dir()}
faults += [f"docs/architecture.md names no room src/{name}" for name in sorted(folders - set(rooms))]
faults += [f"docs/architecture.md names src/{name}, which is not there" for name in rooms if name not in folders]
if drawn != rooms[::-1]:
    faults.append(f"docs/images/rooms.svg draws {', '.join(drawn)} from the top down, but the table of docs/architecture.md has {', '.join(rooms[::-1])}")
for file in sorted((root / "src").rglob("*")):
    room = file.relative_to(root / "src").parts[0]
    if room not in rooms or not file.is_file():
        continue
    here = folder_of(str(file.relative_to(root / "src")))
    for path, other in re.findall(r'^#include "((\w+)/[^"]+)"', file.read_text(errors="replace"), re.M):
        inner = folder_of(path)
        if other == room and inner not in (here, room):
            up.add((here, inner))
            if (here, inner) not in named:
                faults.append(f"{file.relative_to(root)} includes {path}, an arrow from {here} to {inner} that docs/architecture.md does not name")
        if other not in rooms or rooms.index(other) <= rooms.index(room):
            continue
        up.add((room, other))
        if (room, other) not in named:
            faults.append(f"{file.relative_to(root)} includes {path}, but {other} stands above {room}")
faults += [f"docs/architecture.md names an arrow from {a} to {b}, which is not there" for a, b in sorted(named - up)]
if (root / ".git").exists():
    files = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True).stdout.split("\0")
    faults += [f"the repository holds {name}, which no list knows" for name in sorted({file.split("/")[0] for file in files if file} - known)]
print("\n".join(faults) or f"{len(rooms)} rooms, {len(up)} arrows that the page names")
sys.exit(bool(faults))
