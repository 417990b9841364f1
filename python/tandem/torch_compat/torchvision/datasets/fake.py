"""Random pictures, for programs that are tried without their data."""

from tandem import _C
from tandem.torch_compat.torchvision.datasets.vision import VisionDataset
from tandem.torch_compat.torchvision.transforms.functional import to_pil_image


class FakeData(VisionDataset):
    """Pictures of random pixels with random classes; the same ones for the same index and random_offset."""

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None, random_offset=0):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.image_size, self.num_classes, self.random_offset = size, tuple(image_size), num_classes, random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        generator = _C.Generator()
        generator.manual_seed(index + self.random_offset)
        pixels = _C.randn(*self.image_size, generator=generator)
        target = int(_C.randint(0, self.num_classes, (1,), generator=generator).item())
        return self._changed(to_pil_image(pixels), target)

    def __len__(self):
        return self.size
