"""What the datasets of pictures have in common."""

import os

from tandem.utils.data import Dataset


class StandardTransform:
    """A transform of pictures and one of targets, as one of both."""

    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, picture, target):
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return picture, target


class VisionDataset(Dataset):
    """Pictures with targets: transform and target_transform of each, or transforms of both together."""

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        self.transform, self.target_transform = transform, target_transform
        self.transforms = transforms if transforms is not None else StandardTransform(transform, target_transform)

    def extra_repr(self):
        """A line of its own in what is printed of the dataset."""
        return ""

    def _changed(self, picture, target):
        """A sample after its transforms, as they stand now."""
        if isinstance(self.transforms, StandardTransform):
            return StandardTransform(self.transform, self.target_transform)(picture, target)
        return self.transforms(picture, target)

    def __repr__(self):
        lines = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"Root location: {self.root}")
        lines += self.extra_repr().splitlines()
        if isinstance(self.transforms, StandardTransform):
            parts = [
                (name, part)
                for name, part in (("Transform", self.transform), ("Target transform", self.target_transform))
                if part is not None
            ]
            if parts:
                lines.append("StandardTransform")
            for name, part in parts:
                first, *rest = repr(part).splitlines()
                lines += [f"{name}: {first}", *(" " * (len(name) + 2) + line for line in rest)]
        return "\n".join([f"Dataset {type(self).__name__}", *("    " + line for line in lines)])
