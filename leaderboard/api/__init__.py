"""The site for programs: JSON over HTTP, version 1."""
