"""Networks of torchvision's and transformers' as ONNX graphs, with numbers of their own: make_onnx_graphs.py FOLDER."""

import logging
import pathlib
import sys
import warnings

import torch
import torchvision
import transformers

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
torch.manual_seed(0)


def write(name, network, inputs, **options):
    path = folder / f"{name}.onnx"
    if path.exists():
        return
    with torch.no_grad():
        torch.onnx.export(network.eval(), inputs, str(path), dynamo=True, external_data=False, verbose=False, **options)
    print(name, flush=True)


class Logits(torch.nn.Module):
    """A language model's first output, without a cache."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False)[0]


for name in ("resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "densenet121", "squeezenet1_1", "shufflenet_v2_x1_0",
             "mnasnet0_5", "regnet_y_400mf", "convnext_tiny", "vgg11", "vit_b_16", "swin_t"):
    network = getattr(torchvision.models, name)(weights=None)
    if name == "vit_b_16":
        torch.nn.init.normal_(network.heads.head.weight, std=0.05)
    x = torch.randn(2, 3, 224, 224)
    if any(isinstance(part, torch.nn.BatchNorm2d) for part in network.modules()):
        with torch.no_grad():
            for _ in range(3):
                network.train()(x)  # running averages that fit
    write(name, network, (x[:1],))
ids = (torch.randint(100, (1, 24)),)
small = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, vocab_size=200)
write("bert", Logits(transformers.BertModel(transformers.BertConfig(**small, intermediate_size=256))), ids)
write("gpt2", Logits(transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=128, n_layer=2, n_head=4, vocab_size=200))), ids)
write("llama", Logits(transformers.LlamaForCausalLM(transformers.LlamaConfig(**small, intermediate_size=256, num_key_value_heads=2))), ids)
write("qwen2", Logits(transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**small, intermediate_size=256, num_key_value_heads=2))), ids)
write("distilbert", Logits(transformers.DistilBertModel(transformers.DistilBertConfig(dim=128, n_layers=2, n_heads=4, hidden_dim=256, vocab_size=200))), ids)
