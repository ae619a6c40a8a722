"""The course: its chapters as data, and the exercises that are made of what its commands print."""
