"""Folders on this machine that are served beside the wikis. Files are the truth, looked at again at each call."""
