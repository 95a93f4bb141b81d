"""From what a token classifier says of tokens to exact spans of whole words: schemes of labels, words, windows over long texts."""
