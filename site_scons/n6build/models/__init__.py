"""The models: their descriptions, and the names of their networks."""
