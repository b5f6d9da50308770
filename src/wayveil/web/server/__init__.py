"""The server around the application: connections, who may ask, what lies on disk."""
