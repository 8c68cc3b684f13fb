-- Jobs asked for on a range of commits: on all of them, or to find the first bad one.

create table range_search (
  id uuid primary key,
  -- Newest first, also for searches of one instant.
  number bigint generated always as identity unique,
  kind text not null,
  repository text not null references repository,
  branch text not null,
  selection text not null,
  -- The commit before the range, and its last.
  after_commit text not null,
  last_commit text not null,
  commits integer not null,
  step integer not null default 1,
  parallel integer not null default 1,
  same_results integer not null default 1,
  state text not null default 'running',
  started_by text not null,
  reason text,
  -- The set of the graphs that it made; named by the first of them.
  set_id uuid references graph,
  -- Of a bisection: the positions among which the first bad commit is.
  remaining_from integer,
  remaining_to integer,
  message text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- A server's right to take the next step, until a time.
  held_until timestamptz,
  constraint a_search_is_a_backfill_or_a_bisection check (kind in ('backfill', 'bisect')),
  constraint a_search_state_is_known check (state in ('running', 'finished', 'cancelled')),
  constraint a_search_that_is_over_has_an_end check ((state = 'running') = (finished_at is null)),
  constraint a_range_is_not_empty check (commits > 0),
  constraint a_search_asks_for_something check (step > 0 and parallel > 0 and same_results > 0)
);
-- Serves the servers that look for a step to take.
create index range_search_to_step on range_search (held_until nulls first) where state = 'running';

create table range_commit (
  search_id uuid not null references range_search,
  -- From 1, the oldest.
  position integer not null,
  commit text not null,
  standing text not null default 'unknown',
  graph_id uuid references graph,
  why text,
  primary key (search_id, position),
  constraint a_standing_is_known check (standing in ('unknown', 'asked', 'good', 'bad', 'skipped')),
  constraint what_is_asked_has_a_graph check (standing <> 'asked' or graph_id is not null)
);
-- Serves the next commits to ask for, and those that are asked.
create index range_commit_open on range_commit (search_id, standing, position)
  where standing in ('unknown', 'asked');
-- Serves "what is known of this commit".
create index graph_by_commit on graph (repository, commit, number);

-- Jobs of one key answer for each other, and jobs that other machines run.
alter table job
  -- Jobs of the same repository, branch and key: the newest may answer for those that wait before it.
  add column coalesce_key text,
  -- So many must wait before it, and each for so long.
  add column coalesce_depth integer not null default 1,
  add column coalesce_age_ms bigint not null default 0,
  -- No worker of this farm runs it: another machine reports.
  add column outside boolean not null default false,
  add constraint coalescing_takes_at_least_one check (coalesce_depth > 0 and coalesce_age_ms >= 0);
-- Serves the chore that coalesces.
create index job_to_coalesce on job (coalesce_key)
  where coalesce_key is not null and state in ('ready', 'queued');
-- Serves "which jobs does this one answer for".
create index job_coalesced on job (coalesced_graph, coalesced_job) where coalesced_graph is not null;

-- What other machines reported, so that a report which is sent again changes nothing.
create table run_report (
  graph_id uuid not null,
  job text not null,
  -- Chosen by whoever reports.
  report_id text not null,
  run integer not null,
  state text not null,
  reported_by text not null,
  reported_at timestamptz not null default now(),
  primary key (graph_id, job, report_id),
  constraint a_report_is_about_a_run foreign key (graph_id, job, run) references run (graph_id, job, number),
  constraint a_report_state_is_known check (state in ('started', 'finished'))
);
