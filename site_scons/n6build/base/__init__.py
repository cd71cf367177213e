"""What every stage uses; nothing here knows about neural networks or chips."""
