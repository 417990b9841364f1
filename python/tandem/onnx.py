"""torch.onnx: there to be imported; it says what tandem does not have when it is used."""


def export(*args, **kwargs):
    """NotImplementedError: tandem writes no ONNX files."""
    raise NotImplementedError(
        "torch.onnx.export: tandem does not have it. "
        "torch.save(model.state_dict(), path) keeps the weights, which PyTorch reads and exports"
    )
