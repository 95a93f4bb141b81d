"""What predictions cost: tokens times dated prices, to stand beside their quality."""
