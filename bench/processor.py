"""The processor by a name that pages and folders carry, and the instruction sets that both sides of a benchmark can be held to."""

import os
import platform
import re

# Family and first and last model, as /proc/cpuinfo numbers them: the generation. AMD's and Intel's lists of their processors.
GENERATIONS = [
    ("AuthenticAMD", 23, 0x00, 0x2F, "Zen"),
    ("AuthenticAMD", 23, 0x30, 0xFF, "Zen 2"),
    ("AuthenticAMD", 25, 0x00, 0x0F, "Zen 3"),
    ("AuthenticAMD", 25, 0x20, 0x5F, "Zen 3"),
    ("AuthenticAMD", 25, 0x10, 0x1F, "Zen 4"),
    ("AuthenticAMD", 25, 0x60, 0xAF, "Zen 4"),
    ("AuthenticAMD", 26, 0x00, 0xFF, "Zen 5"),
    ("GenuineIntel", 6, 0x3C, 0x3F, "Haswell"),
    ("GenuineIntel", 6, 0x4F, 0x4F, "Broadwell"),
    ("GenuineIntel", 6, 0x55, 0x55, "Skylake or Cascade Lake server"),
    ("GenuineIntel", 6, 0x6A, 0x6C, "Ice Lake server"),
    ("GenuineIntel", 6, 0x8F, 0x8F, "Sapphire Rapids"),
    ("GenuineIntel", 6, 0xCF, 0xCF, "Emerald Rapids"),
    ("GenuineIntel", 6, 0xAD, 0xAE, "Granite Rapids"),
]

# What holds both sides to a set: tandem, PyTorch's own kernels, MKL and oneDNN. onnxruntime and OpenVINO have no such variable.
LIMITS = {
    "avx512": {"TANDEM_ISA": "avx512", "ATEN_CPU_CAPABILITY": "avx512", "MKL_ENABLE_INSTRUCTIONS": "AVX512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    "avx2": {"TANDEM_ISA": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "baseline": {"TANDEM_ISA": "baseline", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
}


def asked(parser):
    """The set that TANDEM_ISA names, None where it names none; ends with an error of `parser` where there is no such set."""
    isa = os.environ.get("TANDEM_ISA") or None
    if isa and isa not in LIMITS:
        parser.error(f"TANDEM_ISA={isa}: there is no such instruction set. There are: {', '.join(LIMITS)}")
    return isa


def cpuinfo():
    """The first processor's lines of /proc/cpuinfo."""
    fields = {}
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            if not name.strip():
                break
            fields[name.strip()] = value.strip()
    return fields


def generation(fields):
    """The generation's name; empty where the list does not have it."""
    for vendor, family, first, last, name in GENERATIONS:
        if fields.get("vendor_id") == vendor and int(fields["cpu family"]) == family and first <= int(fields["model"]) <= last:
            return name
    return ""


def name(isa=None):
    """For people: `AMD EPYC (Zen 5)`, and what it is held to."""
    fields = cpuinfo()
    model, which = fields.get("model name", platform.machine()), generation(fields)
    return model + (f" ({which})" if which else "") + (f", held to {isa}" if isa else "")


def folder(isa=None):
    """The same for a folder: `amd-zen-5`, `amd-zen-5-avx2`; after the model's name where the generation is not known."""
    fields = cpuinfo()
    which = generation(fields)
    maker = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}.get(fields.get("vendor_id"), "")
    text = f"{maker} {which}" if which else fields.get("model name", platform.machine())
    slug = re.sub("[^a-z0-9]+", "-", re.sub(r"\((r|tm|c)\)", "", text.lower())).strip("-")
    return slug + (f"-{isa}" if isa else "")
