-- bucketed_window: the twin of core/engines/bucketed_window.h. State:
-- list_log.lua; params, step and reply: log_view.lua. A slot is an entry.
-- Check:  list_log_check
-- Charge: list_log_charge
return LogView(ListLog())
