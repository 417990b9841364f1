"""Ranks in a grid, with a group for each of its dimensions."""

from tandem import _C
from tandem.distributed.groups import (
    GroupMember,
    ProcessGroup,
    _get_default_group,
    get_rank,
    get_world_size,
    init_process_group,
    is_initialized,
    is_outside,
    new_group,
)

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """The ranks of the program, or some of them, in a grid. Every rank of the program makes it, as it makes groups.

    `mesh` is a tensor, or nested lists, of ranks; `mesh[name]` is the part along one dimension that this rank is in."""

    def __init__(self, device_type, mesh=None, *, mesh_dim_names=None, backend_override=None, _groups=None):
        if not is_initialized():
            init_process_group()
        if mesh is None:
            mesh = list(range(get_world_size()))
        self.device_type = device_type
        self.mesh = (mesh if isinstance(mesh, _C.Tensor) else _C.tensor(mesh)).detach().to("cpu", _C.int64)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        if self.mesh.numel() > get_world_size():
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {get_world_size()}, but found {self.mesh.numel()} ranks!"
            )
        found = (self.mesh == get_rank()).nonzero().tolist()
        self._coordinate = tuple(found[0]) if found else None
        self._groups = self._make_groups() if _groups is None else _groups

    def _make_groups(self):
        """This rank's group along each dimension. All ranks make all groups, in one order."""
        if self.ndim == 1 and self.mesh.tolist() == list(range(get_world_size())):
            return [_get_default_group()]
        groups = []
        for dim in range(self.ndim):
            mine = GroupMember.NON_GROUP_MEMBER
            for ranks in self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist():
                made = new_group(ranks, sort_ranks=False)
                if not is_outside(made):
                    mine = made
            groups.append(mine)
        return groups

    @property
    def ndim(self):
        """How many dimensions it has."""
        return self.mesh.dim()

    @property
    def shape(self):
        """How many ranks there are along each dimension."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim=None):
        """How many ranks there are, along one dimension or in all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim]

    def _number_of(self, mesh_dim):
        if isinstance(mesh_dim, str):
            if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
                raise KeyError(f"Invalid mesh_dim_name {mesh_dim}: this mesh has {self.mesh_dim_names}")
            return self.mesh_dim_names.index(mesh_dim)
        if mesh_dim is None:
            if self.ndim != 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be specified when "
                    "device_mesh.ndim > 1."
                )
            return 0
        return mesh_dim

    def get_group(self, mesh_dim=None):
        """The group of this rank along a dimension, by number or name."""
        return self._groups[self._number_of(mesh_dim)]

    def get_all_groups(self):
        """The same for all dimensions."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def get_local_rank(self, mesh_dim=None):
        """This rank's place along a dimension."""
        dim = self._number_of(mesh_dim)
        return get_rank(self.get_group(dim)) if self._coordinate is None else self._coordinate[dim]

    def get_coordinate(self):
        """This rank's place along each dimension; None where it is not in the mesh."""
        return self._coordinate

    def get_rank(self):
        """This rank's number in the program."""
        return get_rank()

    def __getitem__(self, names):
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (names,) if isinstance(names, str) else tuple(names)
        dims = [self._number_of(name) for name in names]
        if names == self.mesh_dim_names:
            return self
        others = [dim for dim in range(self.ndim) if dim not in dims]
        place = self._coordinate or (0,) * self.ndim
        part = self.mesh.permute(*others, *dims)
        for dim in others:
            part = part[place[dim]]
        return DeviceMesh(self.device_type, part, mesh_dim_names=names, _groups=[self._groups[dim] for dim in dims])

    @staticmethod
    def from_group(group, device_type, mesh=None, *, mesh_dim_names=None):
        """The mesh of a group that is there already, or of one for each dimension of `mesh`."""
        if isinstance(group, ProcessGroup):
            return DeviceMesh(device_type, group._handle.ranks(), mesh_dim_names=mesh_dim_names, _groups=[group])
        if len(group) == 0:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, _groups=list(group))

    def __eq__(self, other):
        if not isinstance(other, DeviceMesh):
            return NotImplemented
        mine, theirs = ((one.device_type, one.mesh_dim_names, one.mesh.tolist()) for one in (self, other))
        return mine == theirs

    def __hash__(self):
        return hash((self.device_type, self.mesh_dim_names, tuple(self.mesh.flatten().tolist()), self.shape))

    def __repr__(self):
        names = self.mesh_dim_names
        sizes = ", ".join(map(str, self.shape)) if names is None else ", ".join(f"{n}={size}" for n, size in zip(names, self.shape))
        comma = "," if self.ndim == 1 and names is None else ""
        return f"DeviceMesh(({sizes}{comma}), '{self.device_type}', stride={tuple(self.mesh.stride())})"


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """The ranks of the program in a grid of this shape. Starts the program's group where there is none yet."""
    mesh_shape = (mesh_shape,) if isinstance(mesh_shape, int) else tuple(mesh_shape)
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError("Each mesh_dim_name must be unique.", f"Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}")
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length!",
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.",
            )
    if device_type and not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    if not is_initialized():
        init_process_group()
    count = 1
    for size in mesh_shape:
        count *= size
    if count > get_world_size():
        raise RuntimeError(f"Mesh should not be bigger than default world size {get_world_size()}, but found {count} ranks!")
    if device_type == "cuda" and _C.cuda.device_count() > 0:
        _C.cuda.set_device(get_rank() % _C.cuda.device_count())
    return DeviceMesh(device_type, _C.arange(count).reshape(mesh_shape), mesh_dim_names=mesh_dim_names)
