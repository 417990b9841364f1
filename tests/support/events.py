"""Event files, as TensorBoard reads them, written byte by byte: for tests and benchmarks of what reads them."""

import math
import struct
import zlib

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def checksum(data):
    """CRC-32C, masked."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8 & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", checksum(length)) + data + struct.pack("<I", checksum(data))


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def text(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def event(value, step, time):
    """An event with one value of a summary."""
    return record(b"\x09" + struct.pack("<d", time) + b"\x10" + varint(step) + text(5, text(1, value)))


def scalar(tag, number, step, time=1.7e9):
    return event(text(1, tag.encode()) + b"\x15" + struct.pack("<f", number), step, time)


def image(tag, picture, step, time=1.7e9):
    return event(text(1, tag.encode()) + text(4, text(4, picture)), step, time)


def histogram(tag, limits, counts, step, time=1.7e9):
    """Buckets by their upper ends; the first one's count is 0, its end is where the values begin."""
    ends = b"\x09" + struct.pack("<d", limits[0]) + b"\x11" + struct.pack("<d", limits[-1])
    packed = [struct.pack(f"<{len(numbers)}d", *numbers) for numbers in (limits, counts)]
    return event(text(1, tag.encode()) + text(5, ends + text(6, packed[0]) + text(7, packed[1])), step, time)


def note(tag, content, step, time=1.7e9):
    """A text: a tensor of strings, for the plugin that shows them."""
    return event(text(1, tag.encode()) + text(8, b"\x08\x07" + text(8, content.encode())) + text(9, text(1, text(1, b"text"))), step, time)


def grey_png(rows):
    """A picture of bytes, a row each."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b"")


def write_run(folder, points, tags, seed=0):
    """Curves that fall, with some noise."""
    folder.mkdir(parents=True, exist_ok=True)
    noise = seed
    with open(folder / "events.out.tfevents.1700000000.host.1.0", "wb") as file:
        for step in range(points):
            for i, tag in enumerate(tags):
                noise = (noise * 1103515245 + 12345) & 0x7FFFFFFF
                file.write(scalar(tag, math.exp(-3 * step / points) + i + noise / 0x7FFFFFFF / 10, step, 1.7e9 + step / 10))
