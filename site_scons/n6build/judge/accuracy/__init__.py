"""How near an int8 model is to the float model that it was made from."""
