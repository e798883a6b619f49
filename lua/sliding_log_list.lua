-- sliding_log_list: the twin of core/engines/sliding_log_list.h. State:
-- list_log.lua; params, step and reply: log_view.lua.
-- Check:  list_log_check
-- Charge: list_log_charge
return LogView(ListLog())
