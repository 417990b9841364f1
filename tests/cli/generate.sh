# A language model's files, made here with random weights, and the text that it writes after a prompt.
. "$(dirname "$0")/common.sh.inc"

python3 - "$(dirname "$0")/../models/tokenizers" << 'PYTHON'
import json, pathlib, random, shutil, struct, sys

random.seed(0)
folder = pathlib.Path("model")
folder.mkdir()
shutil.copy(pathlib.Path(sys.argv[1]) / "llama3.json", folder / "tokenizer.json")
wide, inside, vocabulary = 16, 24, 420
sizes = {"model.embed_tokens.weight": [vocabulary, wide], "model.norm.weight": [wide], "lm_head.weight": [vocabulary, wide]}
for i in range(2):
    at = f"model.layers.{i}."
    sizes |= {at + "input_layernorm.weight": [wide], at + "post_attention_layernorm.weight": [wide]}
    sizes |= {at + f"self_attn.{name}_proj.weight": [out, wide] for name, out in (("q", 16), ("k", 8), ("v", 8), ("o", 16))}
    sizes |= {at + "mlp.gate_proj.weight": [inside, wide], at + "mlp.up_proj.weight": [inside, wide], at + "mlp.down_proj.weight": [wide, inside]}
header, data = {}, b""
for name, shape in sizes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    values = [1.0] * count if len(shape) == 1 else [random.gauss(0, 0.5) for _ in range(count)]
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
    data += struct.pack(f"<{count}f", *values)
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
config = dict(
    model_type="llama", vocab_size=vocabulary, hidden_size=wide, intermediate_size=inside, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64,
)
(folder / "config.json").write_text(json.dumps(config))
PYTHON

prompt="The quick brown fox"
call -- generate model "$prompt" --tokens 12
expect_status 0; expect_no_err
likeliest=$out
[ -n "$likeliest" ] || fail "nothing is written" ""
for same in "--temperature 0" "--temperature 1 --top-k 1" "--temperature 0.7 --top-p 0.000001" "--device cpu" "--dtype float32"; do
  call -- generate model "$prompt" --tokens 12 $same
  [ "$out" = "$likeliest" ] || fail "$same writes something else" "$out"
done
call TANDEM_VIRTUAL_GPUS=1x256MiB -- generate model "$prompt" --tokens 12 --device cuda:0
[ "$out" = "$likeliest" ] || fail "a virtual GPU writes something else" "$out"
call -- generate model "$prompt" --tokens 12 --temperature 2 --seed 3
drawn=$out
call -- generate model "$prompt" --tokens 12 --temperature 2 --seed 3
[ "$out" = "$drawn" ] || fail "the same seed writes something else" "$out"
call -- generate model "$prompt" --tokens 12 --temperature 2 --seed 4
[ "$out" != "$drawn" ] || fail "another seed writes the same" "$out"

call TANDEM_VIRTUAL_GPUS=1x256MiB -- generate model "$prompt" --tokens 500 --json
expect_status 0; expect_no_err
printf '%s' "$out" > result.json
python3 - << 'PYTHON' || fail "the JSON is not as it should be" "$out"
import json
result = json.load(open("result.json"))
assert list(result) == ["prompt", "text", "prompt_tokens", "new_tokens", "end", "seconds", "tokens_per_second", "device", "parameters"]
assert result["device"] == "cuda:0" and result["end"] == "num_positions" and result["prompt"] == "The quick brown fox"
assert result["prompt_tokens"] + result["new_tokens"] == 65, "the last one is written, and not read"
PYTHON

# Parts of weights, and what is missing or damaged.
mv model/model.safetensors model/model-00001-of-00001.safetensors
call -- generate model "$prompt" --tokens 12
[ "$out" = "$likeliest" ] || fail "weights in parts write something else" "$out"
mv model/model-00001-of-00001.safetensors parts.safetensors
call -- generate model "$prompt"
expect_status 1; expect_no_out; expect_one_line_error; expect_err "there is neither model.safetensors nor"
head -c 5000 parts.safetensors > model/model.safetensors
call -- generate model "$prompt"
expect_status 1; expect_one_line_error; expect_err "model/model.safetensors"
mv parts.safetensors model/model.safetensors
sed -i 's/"hidden_size": 16/"hidden_size": 32/' model/config.json
call -- generate model "$prompt"
expect_status 1; expect_one_line_error; expect_err "model: [LanguageModel] the weight 'model.embed_tokens.weight' has the sizes [420, 16], but the config asks for [420, 32]"
echo '{"model_type": "bert"}' > model/config.json
call -- generate model "$prompt"
expect_status 1; expect_one_line_error; expect_err "model/config.json: a model of type 'bert' is not supported"
call -- generate nowhere "$prompt"
expect_status 1; expect_one_line_error; expect_err "nowhere/config.json"
wrong "--top-p: must be a number from 0 to 1, not 2" generate model x --top-p 2
wrong "--dtype: must be float32, bfloat16 or float16, not int8" generate model x --dtype int8
wrong "PROMPT" generate model
finish
