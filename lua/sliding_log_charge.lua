-- Adds an entry to a log in a sorted set. drop: how many of the oldest go; -1:
-- all.
if drop < 0 then call('DEL', key) end
if missing then
  call('ZADD', key, '-inf', '\255' .. record, format('%d', at), value)
else
  if drop > 0 then
    call('ZREMRANGEBYRANK', key, '1', drop == 1 and '1' or format('%d', drop))
  end
  call('ZADD', key, format('%d', at), value)
end
call('PEXPIRE', key, life)
