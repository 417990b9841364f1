"""Files that are sorted into a folder for each class."""

import os

from tandem.torch_compat.torchvision.datasets.vision import VisionDataset
from tandem.torch_compat.torchvision.picture import read_picture

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def default_loader(path):
    """The picture in a file, as RGB."""
    return read_picture(path)


class DatasetFolder(VisionDataset):
    """The files below root/<class>/, by class and path; a sample is (what the loader gives, class)."""

    def __init__(self, root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None, allow_empty=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        if (extensions is None) == (is_valid_file is None):
            raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        valid = is_valid_file or (lambda path: path.lower().endswith(tuple(extensions)))
        self.samples = [
            (path, number) for number, name in enumerate(self.classes) for path in self._below(os.path.join(self.root, name)) if valid(path)
        ]
        empty = set(self.classes) - {self.classes[number] for _, number in self.samples}
        if empty and not allow_empty:
            raise FileNotFoundError(
                f"Found no valid file for the classes {', '.join(sorted(empty))}."
                + (f" Supported extensions are: {', '.join(extensions)}" if extensions else "")
            )
        self.targets = [number for _, number in self.samples]

    def find_classes(self, directory):
        """The names of the folders, and their numbers."""
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
        return classes, {name: number for number, name in enumerate(classes)}

    @staticmethod
    def _below(folder):
        for place, _, files in sorted(os.walk(folder, followlinks=True)):
            yield from (os.path.join(place, name) for name in sorted(files))

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self._changed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """The pictures below root/<class>/."""

    def __init__(self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None, allow_empty=False):
        super().__init__(
            root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform, target_transform, is_valid_file, allow_empty
        )
        self.imgs = self.samples
