"""A fake of ST's compiler that replays output and files of each release."""
