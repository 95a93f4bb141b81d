"""The encoder: a local transformer that marks spans (B, I, O of each type) and reads from a question which of them matter.

Training (``training``) needs the extra ``train``; so does the detector, of which ONNX Runtime alone is enough where the folder has a
``model.onnx``.
"""
