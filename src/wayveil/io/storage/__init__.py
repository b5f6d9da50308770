"""Object storage: addresses such as s3://bucket/name, and the objects there."""
