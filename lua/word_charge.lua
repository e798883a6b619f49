-- Stores the state of an engine whose state is a small string.
call('PSETEX', key, life, value)
