"""What models did and how well: scores, alignments, and figures of them."""
