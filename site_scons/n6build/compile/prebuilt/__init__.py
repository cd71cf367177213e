"""Backend prebuilt: networks that were compiled elsewhere."""
