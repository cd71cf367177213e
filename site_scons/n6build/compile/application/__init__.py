"""The network as an application sees it: generated headers and blocks in sources."""
