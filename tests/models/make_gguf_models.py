"""Small language models with random weights as GGUF files, and what transformers computes from these: make_gguf_models.py FOLDER.

Tensors are named and ordered as llama.cpp's converter does it: queries and keys of Llama's with neighbouring numbers in pairs, GPT-2's linear
layers transposed. Needs torch, transformers, accelerate and gguf."""

import pathlib
import sys

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging

VOCABULARY = 512
TOKENS = [[3, 17, 300, 44, 8, 8, 21, 500, 30, 12, 256, 99]]
KINDS = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1")
SIZES = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=128)  # fmt: skip


def entries():
    """A vocabulary of all bytes, as byte-level tokenizers write them, and words of two letters."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(b for b in range(256) if b not in plain)}
    return [letters[byte] for byte in range(256)] + [chr(97 + i // 26) + chr(97 + i % 26) for i in range(VOCABULARY - 256)]


def neighbours(x, heads):
    return x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def write(path, model, architecture, kind):
    config, file, llama = model.config, gguf.GGUFWriter(path, architecture), architecture != "gpt2"
    file.add_block_count(config.num_hidden_layers)
    file.add_context_length(config.max_position_embeddings)
    file.add_embedding_length(config.hidden_size)
    file.add_feed_forward_length(config.intermediate_size if llama else 4 * config.hidden_size)
    file.add_head_count(config.num_attention_heads)
    if llama:
        file.add_head_count_kv(config.num_key_value_heads)
        file.add_layer_norm_rms_eps(config.rms_norm_eps)
        file.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
        file.add_rope_freq_base(config.rope_parameters["rope_theta"])
        file.add_vocab_size(VOCABULARY)
    else:
        file.add_layer_norm_eps(config.layer_norm_epsilon)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list(entries())
    file.add_token_types([gguf.TokenType.NORMAL] * VOCABULARY)
    file.add_token_merges(["a a"])
    for add in (file.add_bos_token_id, file.add_eos_token_id):
        add(5)
    names = gguf.get_tensor_name_map({name: of for of, name in gguf.MODEL_ARCH_NAMES.items()}[architecture], config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        x = weight.numpy()
        if architecture == "llama" and "q_proj" in name:
            x = neighbours(x, config.num_attention_heads)
        if architecture == "llama" and "k_proj" in name:
            x = neighbours(x, config.num_key_value_heads)
        if not llama and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
            x = np.ascontiguousarray(x.T)
        its = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if x.ndim == 1:
            file.add_tensor(its, x)
        else:
            how = gguf.GGMLQuantizationType[kind]
            file.add_tensor(its, gguf.quants.quantize(x, how), raw_dtype=how)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(0)
    models = {
        "llama": LlamaForCausalLM(LlamaConfig(**SIZES, tie_word_embeddings=False)),
        "qwen2": Qwen2ForCausalLM(Qwen2Config(**SIZES, tie_word_embeddings=True)),
        # transformers reads a length of GPT-2's that is its own default alone.
        "gpt2": GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=1024, bos_token_id=5, eos_token_id=5)),
    }
    for architecture, model in models.items():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.2)
        for kind in KINDS:
            name = f"{architecture}-{kind}"
            write(folder / f"{name}.gguf", model, architecture, kind)
            reader = AutoModelForCausalLM.from_pretrained(folder, gguf_file=f"{name}.gguf", dtype=torch.float32).eval()
            with torch.no_grad():
                logits = reader(torch.tensor(TOKENS)).logits[0]
            np.savez(folder / f"{name}.npz", tokens=np.array(TOKENS), logits=logits.numpy())


if __name__ == "__main__":
    main()
