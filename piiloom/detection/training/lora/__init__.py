"""Train an adapter (LoRA) for a local language model on the rows of our exports.

``lora_settings``  what is set, with the defaults
``examples``       records as tokens, in the layout in which a detector asks
``preparing``      the base model in memory, and the trainer for it
``lora_progress``  how far it is
``lora_training``  the training from data to the finished folder
"""
