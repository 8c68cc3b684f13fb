-- Those who execute. A row stays after the process is gone, so that pages can name it.
create table worker (
  name            text primary key,
  -- Random per process: tells a restarted worker from a second one of the same name.
  instance_id     text not null,
  platform        jsonb not null,
  size_class      integer not null,
  slots           integer not null,
  facilities      jsonb not null,
  version         text not null,
  registered_at   timestamptz not null,
  last_seen_at    timestamptz not null,
  draining        boolean not null default false,
  finished_count  bigint not null default 0,

  constraint worker_size_class_is_positive check (size_class >= 1),
  constraint worker_slots_are_positive check (slots >= 1),
  constraint worker_platform_is_an_object check (jsonb_typeof(platform) = 'object')
) with (fillfactor = 50); -- heartbeats rewrite rows in place; no index covers what they change

-- The durable queue. A row lives from its submission until retention takes it.
create table execution (
  id                    uuid primary key,
  project               text not null,
  domain                text not null,
  -- `<hash>/<size>`
  action_digest         text not null,
  -- Platform properties a worker must offer, as canonical JSON. Text, so that the
  -- claim can walk the distinct ones along its index; "C", so that it is cheap.
  requirements          text collate "C" not null,
  size_class            integer not null,
  invocation            text not null,
  -- src/execution/fair-lane.ts and src/execution/queue-place.ts
  lane                  smallint not null,
  place                 bigint not null,
  priority              integer not null,
  timeout_ms            bigint not null,
  expected_duration_ms  bigint,
  do_not_cache          boolean not null,

  state                 text not null default 'queued',
  attempt               integer not null default 0,
  epoch                 bigint not null default 0,
  worker                text,
  worker_instance       text,
  queued_at             timestamptz not null,
  leased_at             timestamptz,
  leased_until          timestamptz,
  started_at            timestamptz,
  finished_at           timestamptz,
  cancel_requested_at   timestamptz,

  outcome               text,
  exit_code             integer,
  -- A serialised REv2 ActionResult.
  result                bytea,
  message               text,
  missing_inputs        text[],
  user_ms               bigint,
  system_ms             bigint,
  peak_memory_bytes     bigint,
  measured_by           text,

  constraint execution_state_is_known check (state in ('queued', 'leased', 'finished')),
  constraint execution_outcome_is_known check (outcome in (
    'succeeded', 'failed', 'timed_out', 'out_of_memory', 'cancelled', 'worker_lost', 'infrastructure_error')),
  -- The states of src/execution/execution.ts, said once more where no code can get round them.
  constraint execution_queued_has_no_holder check (
    state <> 'queued' or (worker is null and leased_at is null and started_at is null)),
  constraint execution_leased_has_a_holder check (
    state <> 'leased' or (worker is not null and worker_instance is not null and leased_at is not null)),
  constraint execution_leased_has_an_end check ((state = 'leased') = (leased_until is not null)),
  constraint execution_finished_has_an_outcome check ((state = 'finished') = (outcome is not null)),
  constraint execution_finished_has_a_time check ((state = 'finished') = (finished_at is not null)),
  constraint execution_queued_is_not_to_be_cancelled check (state <> 'queued' or cancel_requested_at is null),
  constraint execution_attempt_is_within_hand_outs check (attempt between 0 and epoch),
  constraint execution_size_class_is_positive check (size_class >= 1),
  constraint execution_timeout_is_positive check (timeout_ms > 0)
) with (
  -- Heartbeats and starts rewrite rows in place; no index covers what they change.
  fillfactor = 70,
  -- Queue rows change state three times; their dead versions are in every claim's way.
  autovacuum_vacuum_scale_factor = 0.02
);

-- Serves the candidates of src/execution/claim-executions.store.ts.
create index execution_claimable on execution (requirements, size_class, lane, place) where state = 'queued';
-- Serves counting what each lane holds, and looking for leases that are over.
create index execution_leased on execution (lane) where state = 'leased';
-- Serves joining what is in flight, and makes sure that there is one of it.
create unique index execution_in_flight on execution (project, domain, action_digest)
  where state <> 'finished' and not do_not_cache and cancel_requested_at is null;
-- Serves retention.
create index execution_finished on execution (finished_at) where state = 'finished';

-- How each attempt ended. Written when it does; the attempt under way is in `execution`.
create table execution_attempt (
  execution_id  uuid not null references execution on delete cascade,
  attempt       integer not null,
  epoch         bigint not null,
  worker        text not null,
  leased_at     timestamptz not null,
  started_at    timestamptz,
  finished_at   timestamptz not null,
  outcome       text not null,
  message       text not null,
  primary key (execution_id, attempt),

  constraint execution_attempt_outcome_is_known check (outcome in (
    'succeeded', 'failed', 'timed_out', 'out_of_memory', 'cancelled', 'worker_lost', 'infrastructure_error'))
);

-- The log of each attempt, while and until it is not a blob.
create table log_chunk (
  execution_id  uuid not null references execution on delete cascade,
  attempt       integer not null,
  byte_offset   bigint not null,
  bytes         bytea not null,
  primary key (execution_id, attempt, byte_offset),

  constraint log_chunk_is_not_empty check (octet_length(bytes) > 0)
);
-- A log is read soon and often, and compressing small chunks costs more than it saves.
alter table log_chunk alter column bytes set storage external;
