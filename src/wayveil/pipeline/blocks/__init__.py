"""Data in blocks: one in memory, or many on disk.

Everything that decides the result is in the recipe: the key of the blocks and their size.  The engine only decides
where and how many at a time, so one core and a hundred machines give the same bytes.
"""
