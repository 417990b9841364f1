"""The side of `./dev bench work` of those that run exported networks: one inference in onnxruntime or OpenVINO."""

import sys

from safetensors import safe_open

import work_side

FORMS = ("onnxruntime", "openvino")


def onnxruntime_body(model, x, threads):
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: x}
    return f"onnxruntime {onnxruntime.__version__}", lambda: session.run(None, feed)[0]


def openvino_body(model, x, threads):
    import openvino
    core = openvino.Core()
    # float32 like the others: on processors that have bfloat16 it would take that.
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(core.read_model(model), "CPU", settings).create_infer_request()
    return f"OpenVINO {openvino.__version__.split('-')[0]}", lambda: request.infer([x], share_inputs=True, share_outputs=True)[0]


def main():
    parser = work_side.parse(__doc__, FORMS)
    options = parser.parse_args()
    with safe_open(options.data / f"{options.case}.safetensors", "numpy") as file:
        x, output = file.get_tensor("x"), file.get_tensor("output")
    make = {"onnxruntime": onnxruntime_body, "openvino": openvino_body}[options.form]
    library, body = make(options.data / f"{options.case}.onnx", x, options.threads)
    work_side.check("output", body(), output)
    work_side.run(options, library, body)


if __name__ == "__main__":
    sys.exit(main())
