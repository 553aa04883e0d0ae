"""PyTorch by einsum, with a finite fill below every score, and empty rows blanked before the softmax."""

import torch

ARRAYS = "torch"
LACKS = {"rank2", "rank3", "gqa"}
CONVENTIONS = {"masked_nonfinite": "propagates", "value_range": "sum"}


def attention(query, key, value, *, mask=None):
    if query.ndim < 4 or query.shape[1] != key.shape[1]:
        raise ValueError("wanted (B, H, L, D) and as many key heads as query heads")
    if key.shape[:3] != value.shape[:3] or not query.is_floating_point():
        raise ValueError("wanted a value for each key, in floating point")
    high = torch.promote_types(query.dtype, torch.float32)
    wide = query.to(high) * (query.shape[3] or 1) ** -0.5
    scores = torch.einsum("bhld,bhsd->bhls", wide, key.to(high))
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=query.device)
    scores = torch.where(mask, scores, torch.finfo(high).min)
    weights = torch.where(mask, scores.softmax(3), 0)
    return torch.einsum("bhls,bhsd->bhld", weights, value.to(high)).to(query.dtype)
