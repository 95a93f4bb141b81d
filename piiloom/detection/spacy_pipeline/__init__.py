"""spaCy pipelines as detectors, and their training on a release.

``loading``         a pipeline from a folder or by name, with what it needs to find entities and no more
``spacy_detector``  the detector "spacy"
``spacy_settings``  what is set for a training
``making``          the pipeline to train: blank, or on the layers of another one
``spacy_training``  the training from data to the finished folder
"""
