"""parallelize_module: a plan of styles for the parts of a module."""

import fnmatch
import warnings

from tandem.distributed.tensor.parallel.style import ParallelStyle


def _named(module, path):
    """The modules below this one whose dotted name fits a path, in which * stands for any part of a name."""
    found = [module]
    for token in path.split("."):
        found = [child for one in found for name, child in one.named_children() if fnmatch.fnmatchcase(name, token)]
    return found


def parallelize_module(module, device_mesh=None, parallelize_plan=None, *, src_data_rank=0):
    """Applies a style to the module, or to parts of it by their dotted names, on the ranks of a mesh with one dimension. Gives the module.

    Weights are those of the mesh's first rank; with src_data_rank None each rank takes its part of its own.
    """
    if device_mesh is None:
        raise ValueError("parallelize_module: give the mesh, as init_device_mesh makes it")
    if device_mesh.ndim != 1:
        raise ValueError(f"parallelize_module: the mesh has {device_mesh.ndim} dimensions: give one of them, mesh['tp']")
    if parallelize_plan is None:
        warnings.warn("No parallelize_plan is provided and auto-parallel is not supported at the moment, so this parallelize_module call will do nothing.", stacklevel=2)
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, device_mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(f"Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, {type(parallelize_plan)} found!")
    for path, style in parallelize_plan.items():
        found = _named(module, path) if path else [module]
        if not found:
            warnings.warn(f"Parallelize plan key '{path}' could not be resolved: no submodule matching it at path {path.split('.')[0]}", stacklevel=2)
        for one in found:
            parallelize_module(one, device_mesh, style, src_data_rank=src_data_rank)
    return module
