"""Steps as values: what they are, what they are signed with, and the plan that they make up. Knows nothing of networks or
boards."""
