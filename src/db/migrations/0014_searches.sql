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
