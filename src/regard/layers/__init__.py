"""What is not attention: blocks, positions, recurrence, convolution."""
