-- A place that commits come from.
create table repository (
  name text primary key,
  -- A path on the server's machine, or a URL that its git can fetch.
  url text not null unique,
  created_at timestamptz not null default now(),
  constraint a_repository_has_a_name check (name <> '')
);

-- One job as the language says it, its holes filled; named by its canonical text, so it never changes.
create table definition (
  digest text primary key,
  body jsonb not null,
  constraint a_definition_is_named_by_a_digest check (digest ~ '^[0-9a-f]{64}/[0-9]+$')
);

-- A set of definitions, named by its sorted (name, definition) pairs.
create table catalog (
  digest text primary key,
  created_at timestamptz not null default now(),
  constraint a_catalog_is_named_by_a_digest check (digest ~ '^[0-9a-f]{64}/[0-9]+$')
);

create table catalog_entry (
  catalog text not null references catalog,
  name text not null,
  definition text not null references definition,
  primary key (catalog, name)
);

create table graph (
  id uuid primary key,
  -- Newest first, also for graphs of one instant.
  number bigint generated always as identity,
  repository text not null references repository,
  commit text not null,
  rev text not null,
  subject text not null,
  author text not null,
  committed_at timestamptz not null,
  catalog text not null references catalog,
  parameters jsonb not null,
  domain text not null,
  skip_cache boolean not null,
  state text not null default 'running',
  -- Goes up with every transaction that changes a job of the graph.
  version bigint not null default 1,
  -- How many jobs are in each state; kept in step by whoever changes a job, under this row's lock.
  counts jsonb not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  cancel_asked_at timestamptz,
  constraint a_graph_state_is_known check (state in ('running', 'succeeded', 'failed', 'cancelled')),
  constraint a_graph_that_is_over_has_an_end check ((state = 'running') = (finished_at is null)),
  constraint a_commit_is_40_hex_digits check (commit ~ '^[0-9a-f]{40}$'),
  constraint a_domain_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+|user/[A-Za-z0-9._-]{1,64})$')
);

-- Serves the list of graphs, of all repositories and of one.
create unique index graph_by_number on graph (number);
create index graph_by_repository on graph (repository, number);

create table job (
  graph_id uuid not null references graph,
  name text not null,
  definition text not null references definition,
  kind text not null,
  tags jsonb not null,
  -- Computed from the job's runs and in-edges, and stored only to be found by it.
  state text not null,
  -- The graph's version at the job's last change.
  version bigint not null default 1,
  -- Why another run is wanted; null when none is.
  wanted text,
  -- How many runs it had; the number of the latest.
  runs integer not null default 0,
  -- Automatic retries: how many are allowed, and how many were used.
  retries integer not null,
  retries_used integer not null default 0,
  -- In-edges that are not decided, and that cannot be met as things are.
  open_edges integer not null,
  failed_edges integer not null default 0,
  reason text,
  ready_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  -- A server's right to prepare the job's action, until a time. The epoch goes up at each
  -- hand-out: what a slow server prepared under an older one is thrown away.
  preparing_until timestamptz,
  preparing_epoch bigint not null default 0,
  -- How often preparation met a failure of ours in a row.
  preparing_failures integer not null default 0,
  primary key (graph_id, name),
  constraint a_job_state_is_known check (state in
    ('blocked', 'unreachable', 'ready', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
  constraint a_job_kind_is_known check (kind in ('command', 'join')),
  constraint a_cause_is_known check (wanted in ('first', 'auto-retry', 'retrigger', 'revive')),
  constraint a_ready_job_waits_for_nothing
    check (state <> 'ready' or (open_edges = 0 and failed_edges = 0)),
  constraint a_ready_job_knows_since_when check (state <> 'ready' or ready_at is not null),
  constraint edges_are_counted_from_zero check (open_edges >= 0 and failed_edges >= 0),
  constraint retries_have_a_maximum check (retries_used <= retries)
);

-- Serves the claim of ready jobs, and nothing else: blocked and finished ones are not in it.
create index job_to_prepare on job (ready_at, graph_id, name) where state = 'ready';
-- Serves "what changed since version N".
create index job_by_version on job (graph_id, version);

create table edge (
  graph_id uuid not null,
  -- The job that waits.
  job text not null,
  -- The job that it waits for.
  on_job text not null,
  condition text not null,
  status text not null default 'open',
  primary key (graph_id, job, on_job),
  constraint an_edge_starts_at_a_job foreign key (graph_id, job) references job (graph_id, name),
  constraint an_edge_ends_at_a_job foreign key (graph_id, on_job) references job (graph_id, name),
  constraint an_edge_condition_is_known check (condition in ('success', 'failure', 'end')),
  constraint an_edge_status_is_known check (status in ('open', 'met', 'failed')),
  constraint no_job_waits_for_itself check (job <> on_job)
);

-- Serves the step from a job that changed to those that wait for it.
create index edge_by_awaited_job on edge (graph_id, on_job);

create table run (
  graph_id uuid not null,
  job text not null,
  number integer not null,
  cause text not null,
  state text not null,
  outcome text,
  exit_code integer,
  message text,
  -- hash/size of the REv2 action; null when none could be made.
  action_digest text,
  -- Which execution serves it; null for a cache hit.
  execution_id uuid,
  -- For a hit: whose run made the result, where that is known, and when.
  cached boolean not null default false,
  cached_from_graph uuid,
  cached_from_job text,
  cached_at timestamptz,
  attempt integer not null default 1,
  worker text,
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  user_ms double precision,
  system_ms double precision,
  peak_memory_bytes bigint,
  -- build.bazel.remote.execution.v2.ActionResult, binary.
  result bytea,
  -- A person asked for its end; asked of the queue until it has ended.
  cancel_asked_at timestamptz,
  primary key (graph_id, job, number),
  constraint a_run_belongs_to_a_job foreign key (graph_id, job) references job (graph_id, name),
  constraint a_run_cause_is_known check (cause in ('first', 'auto-retry', 'retrigger', 'revive')),
  constraint a_run_state_is_known check (state in ('queued', 'running', 'finished')),
  constraint a_finished_run_has_an_outcome check ((state = 'finished') = (outcome is not null)),
  constraint a_finished_run_has_an_end check ((state = 'finished') = (finished_at is not null)),
  constraint a_run_in_the_queue_has_an_execution check (state = 'finished' or execution_id is not null),
  constraint a_hit_was_not_executed check (not cached or execution_id is null),
  constraint an_outcome_is_known check (outcome in ('succeeded', 'failed', 'timed_out',
    'out_of_memory', 'cancelled', 'worker_lost', 'infrastructure_error'))
);

-- Serves what the queue tells: which runs an execution serves.
create index run_by_execution on run (execution_id) where state <> 'finished';
-- Serves "which run made this result".
create index run_by_action on run (action_digest, finished_at)
  where outcome = 'succeeded' and not cached;
-- Serves the sweep for ends that were asked for, and not yet passed on.
create index run_to_cancel on run (cancel_asked_at) where state <> 'finished' and cancel_asked_at is not null;
