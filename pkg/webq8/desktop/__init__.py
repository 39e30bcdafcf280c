"""What runs on the desktop alone: the command line, and headless Chromium that Python drives. Pages never load it."""
