"""Where people stop, and which rows a top speed allows, for preparing raw data."""
