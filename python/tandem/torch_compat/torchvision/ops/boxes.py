"""Rectangles as rows (x1, y1, x2, y2): their areas, how far they overlap, and the best of those that do."""

from tandem import _C

_FORMS = ("xyxy", "xywh", "cxcywh")


def box_area(boxes):
    """The area of each rectangle."""
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _shared(boxes1, boxes2):
    """The areas (N, M) of what each two rectangles share, and of what they cover together."""
    low = _C.maximum(boxes1[:, None, :2], boxes2[:, :2])
    high = _C.minimum(boxes1[:, None, 2:], boxes2[:, 2:])
    shared = (high - low).clamp(min=0).prod(2)
    return shared, box_area(boxes1)[:, None] + box_area(boxes2) - shared


def _of_floats(boxes):
    return boxes if boxes.is_floating_point() else boxes.float()


def box_iou(boxes1, boxes2):
    """The share (N, M) of what two rectangles cover together that both cover."""
    shared, together = _shared(_of_floats(boxes1), _of_floats(boxes2))
    return shared / together


def generalized_box_iou(boxes1, boxes2):
    """box_iou, less the share of the smallest rectangle around both that neither covers (Rezatofighi et al., 2019)."""
    boxes1, boxes2 = _of_floats(boxes1), _of_floats(boxes2)
    shared, together = _shared(boxes1, boxes2)
    low = _C.minimum(boxes1[:, None, :2], boxes2[:, :2])
    around = (_C.maximum(boxes1[:, None, 2:], boxes2[:, 2:]) - low).clamp(min=0).prod(2)
    return shared / together - (around - together) / around


def box_convert(boxes, in_fmt, out_fmt):
    """Rectangles in another form: xyxy, xywh (a corner and sizes) or cxcywh (the centre and sizes)."""
    if in_fmt not in _FORMS or out_fmt not in _FORMS:
        raise ValueError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}")
    if in_fmt == out_fmt:
        return boxes.clone()
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        a, b, c, d = a, b, c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return _C.stack([a, b, c, d], -1)


def clip_boxes_to_image(boxes, size):
    """Rectangles cut off at the edges of a picture of (height, width)."""
    height, width = size
    return _C.stack([boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)], -1).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    """The numbers of the rectangles whose both sides are at least min_size."""
    return ((boxes[:, 2:] - boxes[:, :2]) >= min_size).all(1).nonzero().reshape(-1)


def nms(boxes, scores, iou_threshold):
    """The numbers of the rectangles that stay, best first: one that overlaps a better one by more than the threshold goes."""
    if boxes.dim() != 2 or boxes.size(1) != 4:
        raise RuntimeError(f"boxes should be a 2d tensor of 4 columns, got {tuple(boxes.shape)}")
    if scores.dim() != 1 or scores.size(0) != boxes.size(0):
        raise RuntimeError(
            f"boxes and scores should have same number of elements in dimension 0, got {boxes.size(0)} and {tuple(scores.shape)}"
        )
    order = scores.detach().sort(descending=True, stable=True).indices
    sorted_boxes = boxes.detach()[order].cpu()
    left = _C.ones(len(order), dtype=_C.bool)
    kept = []
    for at in range(len(order)):
        if left[at]:
            kept.append(at)
            left &= ~(box_iou(sorted_boxes[at : at + 1], sorted_boxes)[0] > iou_threshold)
    return order[_C.tensor(kept, dtype=_C.int64, device=order.device)]


def batched_nms(boxes, scores, idxs, iou_threshold):
    """nms among the rectangles of each class, of all classes together; idxs: the classes."""
    if boxes.numel() == 0:
        return _C.empty(0, dtype=_C.int64, device=boxes.device)
    apart = idxs.to(boxes.dtype) * (boxes.max() + 1)  # so far that no two classes overlap
    return nms(boxes + apart[:, None], scores, iou_threshold)
