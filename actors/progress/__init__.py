"""Long answers in VS Code's Agent Host: shown in pieces, by calls of our own tool."""
