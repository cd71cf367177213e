"""What every stage uses and what knows nothing of neural networks or chips."""
