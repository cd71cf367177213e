"""What an application has to know of its network: a generated header, and blocks in sources of existing projects."""
