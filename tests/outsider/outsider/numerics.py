"""What lies beside the attention."""

import numpy as np


def softmax(scores, visible):
    """Weights over what is visible; a row of zeros where nothing is."""
    largest = np.where(visible, scores, -np.inf).max(-1, keepdims=True, initial=-1e30)
    terms = np.where(visible, np.exp(np.where(visible, scores - largest, 0)), 0)
    return terms / np.maximum(terms.sum(-1, keepdims=True), 1e-30)
