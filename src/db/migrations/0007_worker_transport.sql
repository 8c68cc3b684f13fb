-- How a worker came to the farm, where it is, and for how long it may be out of reach.
alter table worker
  add column transport text not null default 'pull',
  add column host text not null default '',
  -- How long its leases last without a heartbeat; null: as long as everybody's.
  add column lease_ms bigint,
  add constraint worker_transport_is_known check (transport in ('pull', 'ssh')),
  add constraint worker_lease_is_positive check (lease_ms > 0);
