"""PyTorch's side of `./dev bench work`: one case in one form, from the weights and inputs that tandem wrote."""

import sys

import torch
from safetensors.torch import load_file

import work_side
from work_models import CASES

FORMS = ("default", "channels_last", "compile")


def network(case, tensors):
    """With tandem's weights."""
    net = CASES[case][0]()
    net.load_state_dict({name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")})
    return net


def inference(net, tensors):
    def body():
        with torch.inference_mode():
            return net(tensors["x"])

    net.eval()
    work_side.check("output", body(), tensors["output"])
    return body


def training(case, net, tensors):
    _, loss, make_optimizer = CASES[case]
    x, target = tensors["x"], tensors["target"]
    optimizer = make_optimizer(net.parameters())
    output = net(x)
    error = loss(output, target)
    error.backward()
    gradient_norm = torch.nn.utils.get_total_norm(parameter.grad for parameter in net.parameters())
    for what, value in (("output", output), ("loss", error), ("gradient_norm", gradient_norm)):
        work_side.check(what.replace("_", " "), value.detach(), tensors[what])

    def body():
        optimizer.zero_grad()
        loss(net(x), target).backward()
        optimizer.step()

    return body


def main():
    parser = work_side.parse(__doc__, FORMS)
    parser.add_argument("--export", metavar="FILE", help="only write the network to FILE in the ONNX format")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tensors = load_file(options.data / f"{options.case}.safetensors")
    net = network(options.case, tensors)
    tensors = {name: value for name, value in tensors.items() if not name.startswith("model.")}
    if options.export:
        torch.onnx.export(net.eval(), (tensors["x"],), options.export, external_data=False, verbose=False)
        return
    if options.form == "channels_last":
        net = net.to(memory_format=torch.channels_last)
        tensors["x"] = tensors["x"].contiguous(memory_format=torch.channels_last)
    if options.form == "compile":
        net = torch.compile(net)
    body = training(options.case, net, tensors) if "target" in tensors else inference(net, tensors)
    work_side.run(options, f"PyTorch {torch.__version__}", body)


if __name__ == "__main__":
    sys.exit(main())
