"""Servers of the Remote Execution API, version 2: what they store, and what they remember of actions."""
