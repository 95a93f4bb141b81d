"""Train an adapter (LoRA) for a local language model on the rows of our exports.

``lora_settings``  what is set, with the defaults
``examples``       records as tokens, in the layout in which a detector asks
``preparing``      the base model in memory, and the trainer for it
``unfinished``     what an interrupted training leaves behind
``lora_training``  the training from data to the finished folder
"""
