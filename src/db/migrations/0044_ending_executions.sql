-- Executions that a worker's last heartbeat named and that are no longer its own: it has yet to end them, and they
-- hold its slots. Kept to show it: `lost` leases were counted nowhere, and such a worker looked idle.
alter table worker add column ending_count integer not null default 0 check (ending_count >= 0);
