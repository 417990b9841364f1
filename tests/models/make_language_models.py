"""Writes language_model_numbers.h: what small language models give in PyTorch, for language_model_test.cpp.

The networks are written here in plain PyTorch. `--check` compares them with the package `transformers` first, where it is installed.
"""

import math
import pathlib
import sys

import torch
import torch.nn.functional as F

GPT2 = dict(model_type="gpt2", vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=32)
LLAMA = dict(
    model_type="llama", vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5, rope_theta=10000.0,
)  # fmt: skip
LLAMA3 = LLAMA | dict(
    num_attention_heads=2, head_dim=12, tie_word_embeddings=True, attention_bias=True, mlp_bias=True, rope_theta=500.0,
    rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
)  # fmt: skip
TOKENS = [3, 17, 0, 39, 8, 8, 21, 5, 30, 12]


def weight(name, sizes):
    """Numbers that language_model_test.cpp makes in the same way."""
    state = 2166136261
    for byte in name.encode():
        state = (state ^ byte) * 16777619 % 2**32
    values = []
    for _ in range(math.prod(sizes)):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append((state >> 8) / 2**24 - 0.5)
    # Large enough that every part of the network shows in its result.
    scale = 0.6 if len(sizes) == 2 else 0.4
    return torch.tensor(values, dtype=torch.float64).view(sizes) * scale + (1 if "norm" in name or "ln_" in name else 0)


def linear(x, name, out, bias, transposed=False):
    w = weight(name + ".weight", [x.size(-1), out]).t() if transposed else weight(name + ".weight", [out, x.size(-1)])
    return F.linear(x, w, weight(name + ".bias", [out]) if bias else None)


def attend(q, k, v):
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.size(-1))
    t = scores.size(-1)
    return scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -math.inf).softmax(-1) @ v


def split(x, heads):
    return x.view(x.size(0), heads, -1).transpose(0, 1)


def gpt2(c, tokens):
    wide, heads = c["n_embd"], c["n_head"]

    def norm(x, name):
        return F.layer_norm(x, [wide], weight(name + ".weight", [wide]), weight(name + ".bias", [wide]), 1e-5)

    table = weight("wte.weight", [c["vocab_size"], wide])
    x = table[tokens] + weight("wpe.weight", [c["n_positions"], wide])[: len(tokens)]
    for i in range(c["n_layer"]):
        at = f"h.{i}."
        q, k, v = (split(part, heads) for part in linear(norm(x, at + "ln_1"), at + "attn.c_attn", 3 * wide, True, True).chunk(3, -1))
        x = x + linear(attend(q, k, v).transpose(0, 1).reshape(len(tokens), wide), at + "attn.c_proj", wide, True, True)
        inside = F.gelu(linear(norm(x, at + "ln_2"), at + "mlp.c_fc", 4 * wide, True, True), approximate="tanh")
        x = x + linear(inside, at + "mlp.c_proj", wide, True, True)
    return norm(x, "ln_f") @ table.t()


def frequencies(c, size):
    all = c["rope_theta"] ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    scaling = c.get("rope_scaling")
    if not scaling:
        return all
    length = scaling["original_max_position_embeddings"]
    for i, frequency in enumerate(all.tolist()):
        wave = 2 * math.pi / frequency
        if wave > length / scaling["low_freq_factor"]:
            all[i] = frequency / scaling["factor"]
        elif wave >= length / scaling["high_freq_factor"]:
            low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
            smooth = (length / wave - low) / (high - low)
            all[i] = (1 - smooth) * frequency / scaling["factor"] + smooth * frequency
    return all


def llama(c, tokens):
    wide, heads, groups = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"]
    size = c.get("head_dim", wide // heads)
    angles = torch.outer(torch.arange(len(tokens), dtype=torch.float64), frequencies(c, size))
    cos, sin = torch.cat([angles, angles], -1).cos(), torch.cat([angles, angles], -1).sin()

    def norm(x, name):
        return F.rms_norm(x, [wide], weight(name + ".weight", [wide]), c["rms_norm_eps"])

    def turn(x):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    def many(x):
        return x.repeat_interleave(heads // groups, 0)

    bias, mlp_bias = c.get("attention_bias", False), c.get("mlp_bias", False)
    table = weight("model.embed_tokens.weight", [c["vocab_size"], wide])
    x = table[tokens]
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        y = norm(x, at + "input_layernorm")
        q = turn(split(linear(y, at + "self_attn.q_proj", heads * size, bias), heads))
        k = turn(split(linear(y, at + "self_attn.k_proj", groups * size, bias), groups))
        v = split(linear(y, at + "self_attn.v_proj", groups * size, bias), groups)
        y = attend(q, many(k), many(v)).transpose(0, 1).reshape(len(tokens), heads * size)
        x = x + linear(y, at + "self_attn.o_proj", wide, bias)
        y = norm(x, at + "post_attention_layernorm")
        gate, up = (linear(y, at + f"mlp.{part}_proj", c["intermediate_size"], mlp_bias) for part in ("gate", "up"))
        x = x + linear(F.silu(gate) * up, at + "mlp.down_proj", wide, mlp_bias)
    head = table if c.get("tie_word_embeddings") else weight("lm_head.weight", [c["vocab_size"], wide])
    return norm(x, "model.norm") @ head.t()


MODELS = {"Gpt2": (GPT2, gpt2), "Llama": (LLAMA, llama), "Llama3": (LLAMA3, llama)}


def check():
    import transformers

    for name, (config, network) in MODELS.items():
        settings = dict(config)
        kind = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
        model = transformers.AutoModelForCausalLM.from_config(kind, attn_implementation="eager").double().eval()
        state = {}
        for key, value in model.state_dict().items():
            own = "wte.weight" if key == "lm_head.weight" and name == "Gpt2" else key.removeprefix("transformer.")
            if own == "lm_head.weight" and config.get("tie_word_embeddings"):
                own = "model.embed_tokens.weight"
            state[key] = weight(own, list(value.shape))
        model.load_state_dict(state)
        with torch.no_grad():
            theirs = model(torch.tensor([TOKENS])).logits[0]
        difference = (theirs - network(config, TOKENS)).abs().max().item()
        print(name, "differs from transformers by", difference)
        assert difference < 1e-5


if "--check" in sys.argv:
    check()
out = ["// Made by make_language_models.py: logits of small language models in PyTorch, of the first, a middle and the last token.", "#pragma once", ""]
out += [f"inline constexpr int64_t kTokens[] = {{{', '.join(map(str, TOKENS))}}};", "inline constexpr int64_t kRows[] = {0, 5, 9};"]
for name, (config, network) in MODELS.items():
    rows = network(config, TOKENS)[[0, 5, 9]]
    out += ["// clang-format off", f"inline constexpr double k{name}Logits[3][40] = {{"]
    for row in rows.tolist():
        lines = [", ".join(f"{value:.7g}" for value in row[i : i + 10]) for i in range(0, len(row), 10)]
        out.append("    {" + ",\n     ".join(lines) + "},")
    out += ["};", "// clang-format on"]
pathlib.Path(__file__).with_name("language_model_numbers.h").write_text("\n".join(out) + "\n")
