"""Models over ``attnspec.impls.layers``: BERT and its relatives, for the arrays of any library.

Each is a layer whose parts are layers, with ``states``: what comes after the embedding and after every layer.
``pretrained`` takes their parameters from the state dicts that others write, and gives them back.
"""
