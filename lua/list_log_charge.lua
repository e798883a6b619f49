-- Adds an entry to a log in a list, or makes it the newest one in place. drop:
-- how many oldest ones go; -1 all. The record, at the right, goes with them.
if drop < 0 then call('DEL', key) end
if missing then
  call('RPUSH', key, value, '\255' .. record)
else
  if drop > 0 then
    call('LTRIM', key, '0', format('%d', -2 - drop))
    call('RPUSH', key, '\255' .. record)
  end
  if push then
    call('LPUSH', key, value)
  else
    call('LSET', key, '0', value)
  end
end
call('PEXPIRE', key, life)
