"""Rules that stand in for a language model where none is asked: labels, a names index, cue words, word lists.

They read no sentence. What they find is named by how it was found ("labels", "names index" …), so that nobody takes it for a model's
reading. ``data`` holds the cues of a language, a file each; they are small, and no native speaker has checked them.
"""
