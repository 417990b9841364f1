"""PyTorch's side of `./dev bench generate`: writes language models with random weights, or writes on with one of them, token by token."""

import argparse
import json
import pathlib
import string
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

# The sizes of published models: SmolLM2-135M and GPT-2.
MODELS = {
    "llama": dict(model_type="llama", vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
                  max_position_embeddings=2048, rms_norm_eps=1e-5, rope_theta=100000.0, tie_word_embeddings=True),
    "gpt2": dict(model_type="gpt2", vocab_size=50257, n_embd=768, n_layer=12, n_head=12, n_positions=1024),
}


def entries(count):
    """A vocabulary as byte-level tokenizers write it: all bytes, then words of three letters."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(b for b in range(256) if b not in plain)}
    alphabet = string.ascii_letters
    words = [alphabet[i // 2704 % 52] + alphabet[i // 52 % 52] + alphabet[i % 52] for i in range(count - 256)]
    return [letters[byte] for byte in range(256)] + words


def shapes(c):
    """Name and sizes of each weight."""
    if c["model_type"] == "gpt2":
        wide = c["n_embd"]
        yield from (("wte.weight", (c["vocab_size"], wide)), ("wpe.weight", (c["n_positions"], wide)), ("ln_f.weight", (wide,)), ("ln_f.bias", (wide,)))
        for i in range(c["n_layer"]):
            for name, inside, out in (("attn.c_attn", wide, 3 * wide), ("attn.c_proj", wide, wide), ("mlp.c_fc", wide, 4 * wide), ("mlp.c_proj", 4 * wide, wide)):
                yield from ((f"h.{i}.{name}.weight", (inside, out)), (f"h.{i}.{name}.bias", (out,)))
            for name in ("ln_1", "ln_2"):
                yield from ((f"h.{i}.{name}.weight", (wide,)), (f"h.{i}.{name}.bias", (wide,)))
        return
    wide, inside = c["hidden_size"], c["intermediate_size"]
    keys = wide // c["num_attention_heads"] * c["num_key_value_heads"]
    yield from (("model.embed_tokens.weight", (c["vocab_size"], wide)), ("model.norm.weight", (wide,)))
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        yield from ((at + "input_layernorm.weight", (wide,)), (at + "post_attention_layernorm.weight", (wide,)))
        for name, out, into in (("self_attn.q_proj", wide, wide), ("self_attn.k_proj", keys, wide), ("self_attn.v_proj", keys, wide), ("self_attn.o_proj", wide, wide),
                                ("mlp.gate_proj", inside, wide), ("mlp.up_proj", inside, wide), ("mlp.down_proj", wide, inside)):
            yield at + name + ".weight", (out, into)


def write(folder):
    for name, config in MODELS.items():
        (folder / name).mkdir()
        torch.manual_seed(0)
        weights = {key: torch.randn(sizes) * 0.05 if len(sizes) == 2 else torch.zeros(sizes) if key.endswith("bias") else torch.ones(sizes) for key, sizes in shapes(config)}
        save_file(weights, folder / name / "model.safetensors")
        (folder / name / "config.json").write_text(json.dumps(config))
        vocabulary = {entry: token for token, entry in enumerate(entries(config["vocab_size"]))}
        (folder / name / "tokenizer.json").write_text(json.dumps({
            "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        }))


class Llama:
    def __init__(self, c, weights):
        self.c, self.w = c, weights
        self.heads, self.groups, self.layers = c["num_attention_heads"], c["num_key_value_heads"], c["num_hidden_layers"]
        self.size = c["hidden_size"] // self.heads
        turns = 1 / c["rope_theta"] ** (torch.arange(0, self.size, 2).float() / self.size)
        angles = torch.outer(torch.arange(c["max_position_embeddings"]).float(), turns)
        self.cos, self.sin = angles.cos(), angles.sin()

    def __call__(self, tokens, cache):
        w, past, count = self.w, cache.length, tokens.size(1)
        x = F.embedding(tokens, w["model.embed_tokens.weight"])
        cos, sin = self.cos[past:past + count], self.sin[past:past + count]

        def turned(x):
            a, b = x.chunk(2, -1)
            return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

        for i in range(self.layers):
            at = f"model.layers.{i}."
            y = F.rms_norm(x, (x.size(-1),), w[at + "input_layernorm.weight"], self.c["rms_norm_eps"])
            q, k, v = (F.linear(y, w[f"{at}self_attn.{name}_proj.weight"]).view(1, count, -1, self.size).transpose(1, 2) for name in "qkv")
            k, v = cache.append(i, turned(k), v)
            y = F.scaled_dot_product_attention(turned(q), k, v, is_causal=count > 1, enable_gqa=True)
            x = x + F.linear(y.transpose(1, 2).reshape(1, count, -1), w[at + "self_attn.o_proj.weight"])
            y = F.rms_norm(x, (x.size(-1),), w[at + "post_attention_layernorm.weight"], self.c["rms_norm_eps"])
            x = x + F.linear(F.silu(F.linear(y, w[at + "mlp.gate_proj.weight"])) * F.linear(y, w[at + "mlp.up_proj.weight"]), w[at + "mlp.down_proj.weight"])
        cache.length += count
        x = F.rms_norm(x[:, -1], (x.size(-1),), w["model.norm.weight"], self.c["rms_norm_eps"])
        return F.linear(x, w["model.embed_tokens.weight"])


class Gpt2:
    def __init__(self, c, weights):
        self.c, self.w, self.layers = c, weights, c["n_layer"]

    def __call__(self, tokens, cache):
        w, past, count, heads = self.w, cache.length, tokens.size(1), self.c["n_head"]
        x = F.embedding(tokens, w["wte.weight"]) + w["wpe.weight"][past:past + count]

        def norm(x, name):
            return F.layer_norm(x, (x.size(-1),), w[name + ".weight"], w[name + ".bias"])

        def linear(x, name):
            return torch.addmm(w[name + ".bias"], x.view(-1, x.size(-1)), w[name + ".weight"]).view(1, count, -1)

        for i in range(self.layers):
            at = f"h.{i}."
            q, k, v = (part.view(1, count, heads, -1).transpose(1, 2) for part in linear(norm(x, at + "ln_1"), at + "attn.c_attn").chunk(3, -1))
            k, v = cache.append(i, k, v)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=count > 1)
            x = x + linear(y.transpose(1, 2).reshape(1, count, -1), at + "attn.c_proj")
            x = x + linear(F.gelu(linear(norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh"), at + "mlp.c_proj")
        cache.length += count
        return F.linear(norm(x[:, -1], "ln_f"), w["wte.weight"])


class Cache:
    """Keys and values of all tokens so far, in memory for all that will come."""

    def __init__(self, most):
        self.length, self.most, self.parts = 0, most, {}

    def append(self, layer, k, v):
        if layer not in self.parts:
            self.parts[layer] = [torch.empty(1, x.size(1), self.most, x.size(3)) for x in (k, v)]
        end = self.length + k.size(2)
        for part, x in zip(self.parts[layer], (k, v)):
            part[:, :, self.length:end] = x
        return [part[:, :, :end] for part in self.parts[layer]]


@torch.inference_mode()
def generate(model, prompt, count):
    cache, given, written = Cache(len(prompt) + count), torch.tensor([prompt]), []
    for _ in range(count):
        token = int(model(given, cache).argmax())
        written.append(token)
        given = torch.tensor([[token]])
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, metavar="FOLDER", help="where the models are, a folder each")
    parser.add_argument("--write", action="store_true", help="write the models, and measure nothing")
    parser.add_argument("--only", action="append", choices=list(MODELS), metavar="NAME", help="only this model; may be repeated")
    parser.add_argument("--prompt", default="", metavar="TEXT", help="the text that is gone on with")
    parser.add_argument("--tokens", type=int, default=64, metavar="N", help="how many tokens to write (default 64)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads (default 1)")
    options = parser.parse_args()
    if options.write:
        return write(options.data)
    torch.set_num_threads(options.threads)
    results, texts = [], {}
    for name in options.only or MODELS:
        config = MODELS[name]
        model = (Gpt2 if config["model_type"] == "gpt2" else Llama)(config, load_file(options.data / name / "model.safetensors"))
        prompt = list(options.prompt.encode())
        start = time.perf_counter_ns()
        written = generate(model, prompt, options.tokens)
        results.append({"name": name, "ns": (time.perf_counter_ns() - start) / options.tokens})
        words = entries(config["vocab_size"])
        texts[name] = "".join(words[token] if token >= 256 else chr(token) for token in written)
    print(json.dumps({"library": f"PyTorch {torch.__version__}", "texts": texts, "results": results}))


if __name__ == "__main__":
    main()
