"""Writes src/models/unicode_ranges.cpp: which characters are letters, numbers and spaces, by the tables of Python's unicodedata."""

import pathlib
import unicodedata

SPACES = [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]  # White_Space


def ranges(codes):
    found = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def lines(name, codes):
    yield f"constexpr uint32_t {name}[] = {{"
    line = "   "
    for bound in (bound for pair in ranges(codes) for bound in pair):
        if len(line) > 128:
            yield line
            line = "   "
        line += f" 0x{bound:x},"
    yield line + "};"


def of_category(letter):
    return [code for code in range(0x110000) if unicodedata.category(chr(code))[0] == letter]


out = [
    f"// Made by tests/models/make_unicode_ranges.py, of Unicode {unicodedata.unidata_version}.",
    '#include "models/unicode.h"',
    "",
    "namespace tandem::models::unicode {",
    "namespace {",
    "",
    "// clang-format off",
]
for name, codes in ("letters", of_category("L")), ("numbers", of_category("N")), ("spaces", SPACES):
    out += lines(name, codes)
out += ["// clang-format on", "", "}  // namespace", ""]
out += [f"constinit const std::span<const uint32_t> k{name.capitalize()} = {name};" for name in ("letters", "numbers", "spaces")]
out += ["", "}  // namespace tandem::models::unicode"]
path = pathlib.Path(__file__).resolve().parents[2] / "src/models/unicode_ranges.cpp"
path.write_text("\n".join(out) + "\n")
