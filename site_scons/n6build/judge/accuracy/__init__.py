"""Accuracy of an int8 model against the float model that it was made from."""
