"""Servers of the Remote Execution API, version 2, as stores, caches and workers."""
