"""Modules as functions of their parameters: functional_call, and the state of several modules stacked."""

from tandem import _C
from tandem._grad_mode import no_grad
from tandem.nn.utils import stateless


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Calls the module with the tensors of a dictionary, or of several, in the place of those of their names."""
    if isinstance(parameter_and_buffer_dicts, dict):
        together = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(one, dict) for one in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        keys = [key for one in parameter_and_buffer_dicts for key in one]
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        together = {key: value for one in parameter_and_buffer_dicts for key, value in one.items()}
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}"
        )
    return stateless.functional_call(module, together, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models):
    """The parameters and the buffers of modules of one class, each stacked along a new first dimension, as two dictionaries."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(model.training for model in models) or not any(model.training for model in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {name: _stacked([dict(model.named_parameters())[name] for model in models]) for name, _ in models[0].named_parameters()}
    buffers = {name: _stacked([dict(model.named_buffers())[name] for model in models]) for name, _ in models[0].named_buffers()}
    return parameters, buffers


def _stacked(tensors):
    needs = [one.requires_grad for one in tensors]
    if any(needs) and not all(needs):
        raise RuntimeError("Expected parameters from each model to have the same .requires_grad")
    if all(needs) and all(one.is_leaf for one in tensors):
        with no_grad():
            return _C.stack([one.detach() for one in tensors]).requires_grad_()
    return _C.stack(tensors)


def replace_all_batch_norm_modules_(root):
    """Takes the running statistics away from all batch normalizations below root, in place: they use the batch's own."""
    from tandem.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
