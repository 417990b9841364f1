"""Files of many kinds, written by NumPy, pandas, PIL and safetensors, and by hand what these don't write. For compare.py."""

import gzip
import io
import json
import os
import pickle
import struct
import zipfile
import zlib

import numpy as np
from PIL import Image
from safetensors.numpy import save_file

random = np.random.default_rng(1)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, rows, more=b"", interlaced=0):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)) + more
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


def write_pictures(folder):
    def put(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    def picture(mode, size=(23, 17)):
        shape = (size[1], size[0], len(mode)) if len(mode) > 1 else (size[1], size[0])
        return Image.fromarray(random.integers(0, 256, shape, np.uint8), mode)

    for mode in ("L", "LA", "RGB", "RGBA"):
        for optimize in (False, True):
            picture(mode).save(os.path.join(folder, f"{mode}_{optimize}.png"), optimize=optimize)
    picture("L").convert("1").save(os.path.join(folder, "one_bit.png"))
    palette = picture("RGB").quantize(16)
    palette.save(os.path.join(folder, "palette.png"))
    palette.save(os.path.join(folder, "palette_bits.png"), bits=4)
    palette.save(os.path.join(folder, "palette_clear.png"), transparency=3)
    palette.save(os.path.join(folder, "palette_clears.png"), transparency=bytes(range(0, 160, 10)))
    picture("L").save(os.path.join(folder, "gray_clear.png"), transparency=7)
    picture("RGB").save(os.path.join(folder, "rgb_clear.png"), transparency=(1, 2, 3))
    picture("RGB").save(os.path.join(folder, "profile.png"), icc_profile=b"x" * 200)
    Image.fromarray(random.integers(0, 65536, (9, 11), np.uint16)).save(os.path.join(folder, "gray16.png"))
    colours16 = random.integers(0, 65536, (9, 11, 3)).astype(">u2")
    for gamma in (b"", chunk(b"gAMA", struct.pack(">I", 100000)), chunk(b"gAMA", struct.pack(">I", 45455)), chunk(b"sRGB", b"\0")):
        number = zlib.crc32(gamma) & 0xfff
        put(f"gamma_{number}.png", png(256, 1, 8, 0, [bytes(range(256))], gamma))
        put(f"gamma16_{number}.png", png(11, 9, 16, 2, [row.tobytes() for row in colours16], gamma))
    for depth in (1, 2, 4):
        put(f"gray_{depth}.png", png(16, 1, depth, 0, [bytes(range(37, 37 + 2 * depth))]))
    gray = random.integers(0, 256, (13, 10), np.uint8)  # Adam7
    steps = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    passes = [gray[y::dy, x::dx] for x, y, dx, dy in steps]
    put("interlaced.png", png(10, 13, 8, 0, [row.tobytes() for part in passes for row in part], interlaced=1))
    put("cut.png", png(16, 1, 8, 0, [bytes(range(16))])[:50])

    slope = np.add.outer(np.arange(40), np.arange(56)).astype(np.uint8)[..., None].repeat(3, 2)
    smooth = Image.fromarray(slope * np.uint8(2) + np.uint8([0, 9, 30]))
    for subsampling in (0, 1, 2):
        for progressive in (False, True):
            smooth.save(os.path.join(folder, f"{subsampling}_{progressive}.jpg"), subsampling=subsampling, progressive=progressive)
    smooth.convert("L").save(os.path.join(folder, "gray.jpg"))
    smooth.convert("CMYK").save(os.path.join(folder, "cmyk.jpg"))
    smooth.save(os.path.join(folder, "restarts.jpg"), restart_marker_rows=1)
    exif = Image.Exif()
    exif[0x0112] = 6
    smooth.save(os.path.join(folder, "turned.jpg"), exif=exif)
    plain = io.BytesIO()
    smooth.save(plain, "JPEG")
    plain = plain.getvalue()
    end, frame = plain.rindex(b"\xff\xd9"), plain.index(b"\xff\xc0")
    put("stray_end.jpg", plain[:end] + b"\0" * 9 + plain[end:])
    put("stray_header.jpg", plain[:frame] + b"\1\2\3" + plain[frame:])
    put("behind.jpg", plain + b"more")
    put("cut.jpg", plain[:len(plain) // 2])
    put("page.jpg", b"<!DOCTYPE html><html></html>")
    put("named_wrong.png", plain)


def write_arrays(folder):
    def put(name, array, **more):
        np.save(os.path.join(folder, name), array, **more)

    numbers = random.integers(-100, 100, (3, 4, 5))
    for name in ("? u1 i1 <i2 <i4 <i8 <f2 <f4 <f8 >i2 >i4 >i8 >f2 >f4 >f8 <u2 <u4 <u8 <c8 <c16 <f16").split():
        array = (numbers > 0) if name == "?" else numbers.astype(name)
        tag = name.replace("<", "l").replace(">", "b").replace("?", "bool")
        put(f"{tag}.npy", array)
        put(f"{tag}_fortran.npy", np.asfortranarray(array))
    put("scalar.npy", np.float32(1.5))
    put("none.npy", np.zeros((0, 3)))
    put("special.npy", np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]))
    put("objects.npy", np.array([1, "a", None], object), allow_pickle=True)
    put("words.npy", np.array(["a", "bcd"]))
    put("bytes.npy", np.array([b"a", b"bcd"]))
    put("dates.npy", np.array(["2026-01-01"], "M8[s]"))
    put("records.npy", np.zeros(3, [("x", "<f4"), ("y", "<i4", (2,)), ("z", [("w", "u1")])]))
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(os.path.join(folder, f"version{version[0]}.npy"), "wb") as file:
            np.lib.format.write_array(file, numbers, version=version)
    np.savez(os.path.join(folder, "plain.npz"), a=numbers, b=np.float32(2))
    np.savez_compressed(os.path.join(folder, "packed.npz"), a=numbers, b=np.zeros(1000))
    np.savez(os.path.join(folder, "mixed.npz"), a=numbers, words=np.array(["a"]), objects=np.array([None], object), big=numbers.astype(">f4"))
    np.savez(os.path.join(folder, "words.npz"), words=np.array(["a"]))
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 10  # as if all were too large
    np.savez(os.path.join(folder, "wide.npz"), a=numbers, b=np.arange(100.0))
    np.savez_compressed(os.path.join(folder, "wide_packed.npz"), a=numbers, b=np.zeros(1000))
    zipfile.ZIP64_LIMIT = limit

    all_types = {name: numbers.astype(name) for name in ("u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8")}
    more = {"bool": numbers > 0, "none": np.zeros((0, 2), np.float32), "scalar": np.array(3.0)}
    save_file({**all_types, **more}, os.path.join(folder, "all.safetensors"))
    save_file({"u2": numbers.astype("u2"), "f4": numbers.astype("f4")}, os.path.join(folder, "other.safetensors"))
    entries = {"q": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}, "s": {"dtype": "F32", "shape": [], "data_offsets": [4, 8]}}
    header = json.dumps(entries).encode()
    with open(os.path.join(folder, "f8.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + b"12345678")
    with open(os.path.join(folder, "page.safetensors"), "wb") as file:
        file.write(b"<html><body>404</body></html>")


def write_tables(folder):
    def put(name, text):
        data = text if isinstance(text, bytes) else text.encode()
        with (gzip.open if name.endswith(".gz") else open)(os.path.join(folder, name), "wb") as file:
            file.write(data)

    table = 'id,price,"the, town",flag\n1,2.5,Ulm,True\n2,-1e3,"Bad ""X""",False\n\n3,NA,None,True\n4,,n/a,False\n'
    put("lf.csv", table)
    put("crlf.csv", table.replace("\n", "\r\n"))
    put("cr.csv", table.replace("\n", "\r"))
    put("mark.csv", "\ufeff" + table)
    put("semicolon.csv", table.replace("the, town", "town").replace(",", ";"))
    put("tabs.tsv", table.replace("the, town", "town").replace(",", "\t"))
    put("packed.csv.gz", table)
    put("blanks.dat", "  a   b c \n 1  2   3\n4 5 6  \n\n 7\t8 9")
    put("comments.csv", "# by us\na,b\n1,2 # two\n# three\n3,4\n")
    put("twice.csv", "x,x,y,x,x.1,,\n1,2,3,4,5,6,7\n")
    put("numbers.csv", "a\n1e400\n-1e400\n1e-400\n5e-324\n0.1\n123456789012345678\n.5\n5.\n+7\n1e5\ninf\n-inf\n")
    put("missing.csv", "a,b\n#N/A,1\n<NA>,2\n-nan,3\n1.#QNAN,4\nnull,5\n5,6\n")
    put("one.csv", "a\n1\n\n\"\"\n2\n")
    put("index.csv", "x,y\na,1,2\nb,3,4\n")
    put("uneven.csv", "x,y\n1,2\n3\n")
    put("longer.csv", "x,y\n1,2\n3,4,5\n")
    put("latin.csv", "name,a\nM\xfcnchen,1\nK\xf6ln,2\n".encode("latin-1"))
    put("lines.csv", 'a,b\n"two\nlines",1\n"two\r\nmore",2\n')
    put("empty.csv", "")
    put("page.csv", "<!DOCTYPE html><html></html>")


def write_others(folder):
    for name, data in {"model.onnx": b"\x08\x07\x12\x07pytorch\x1a\x052.0.0", "model.tflite": b"\x1c\0\0\0TFL3\x14\0\x20\0",
                       "a.pkl": pickle.dumps({"a": 1}),
                       "page.html": b"<!DOCTYPE html>", "a.gz": gzip.compress(b"a"), "none": b"", "a.txt": b"text", "a.json": b"{}",
                       "a.bin": bytes(random.integers(0, 256, 5000, np.uint8))}.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def write(folder):
    """Writes all of them into a folder, which is made where it is missing."""
    os.makedirs(folder, exist_ok=True)
    for each in (write_pictures, write_arrays, write_tables, write_others):
        each(folder)
