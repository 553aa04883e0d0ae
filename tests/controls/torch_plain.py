"""Nothing but query, key and value, as most people first write it."""

import torch

ARRAYS = "torch"
LACKS = {"gqa"}


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) * max(query.shape[-1], 1) ** -0.5
    return torch.softmax(scores, -1) @ value
