-- How long jobs and graphs take: rolled up from runs, so that nobody who ends a run waits for it.

-- Up to when runs, and graphs, have been counted. Who counts holds the row.
create table rollup_mark (
  name text primary key,
  until timestamptz not null default '1970-01-01T00:00:00Z'
);
insert into rollup_mark (name) values ('runs'), ('graphs');

create table job_history (
  repository text not null references repository,
  job text not null,
  -- Good runs that were executed, and bad ones.
  samples bigint not null,
  failures bigint not null,
  -- Of the last good runs, the newest first.
  durations_ms bigint[] not null,
  median_ms bigint,
  p90_ms bigint,
  primary key (repository, job),
  constraint a_history_is_short check (cardinality(durations_ms) <= 20),
  constraint a_history_with_durations_has_a_median
    check ((cardinality(durations_ms) = 0) = (median_ms is null) and (median_ms is null) = (p90_ms is null))
);

-- How many runs waited, and ran, how long; only ever counted up, as the scrapers of /metrics need it.
create table time_histogram (
  measure text not null,
  -- Runs of at most this many seconds, and of more than the row before says.
  upto_seconds double precision not null,
  runs bigint not null,
  seconds double precision not null,
  primary key (measure, upto_seconds),
  constraint a_histogram_is_of_waiting_or_running check (measure in ('wait', 'run'))
);

-- A graph as it was when it was over for the first time. What people retrigger later is no fault of the farm's.
create table graph_times (
  graph_id uuid primary key references graph,
  ended_at timestamptz not null,
  end_to_end_ms bigint not null,
  -- From the graph's beginning to its first bad run; null when it had none.
  first_failure_ms bigint,
  -- What the jobs took that the end had to wait for, without their waiting.
  critical_path_ms bigint not null
);
-- Serves times of graphs over a window.
create index graph_times_by_end on graph_times (ended_at);
-- Serves the roll-up of graphs that are over.
create index graph_by_end on graph (finished_at) where finished_at is not null;
-- Serves counting the jobs of graphs under way.
create index graph_under_way on graph (id) where state = 'running';

-- What a farm is measured by, said in words and not in SQL: a change holds for the past, too.
create table metric_definition (
  name text primary key,
  measure text not null,
  -- Which percentile of the measure, or which share of it lies within a time.
  percentile double precision,
  within_seconds double precision,
  -- A share that is good enough.
  goal double precision,
  group_by text,
  -- A selection of jobs (src/api/selection); empty for all.
  filter text not null default '',
  window_seconds bigint not null,
  -- The one that people mean when they ask how the farm does.
  of_record boolean not null default false,
  constraint a_metric_has_a_plain_name check (name ~ '^[a-z0-9][a-z0-9-]{0,63}$'),
  constraint a_measure_is_known
    check (measure in ('wait', 'run', 'end-to-end', 'first-failure', 'critical-path')),
  constraint a_metric_is_a_percentile_or_a_share
    check ((percentile is null) <> (within_seconds is null)),
  constraint a_percentile_lies_between_its_ends check (percentile between 0 and 100),
  constraint only_a_share_has_a_goal check (goal is null or within_seconds is not null),
  constraint a_goal_is_a_share check (goal between 0 and 1),
  constraint a_grouping_is_known check (group_by in ('branch', 'pool', 'kind')),
  constraint a_window_is_not_empty check (window_seconds > 0)
);
create unique index metric_of_record on metric_definition (of_record) where of_record;
insert into metric_definition (name, measure, percentile, within_seconds, goal, window_seconds, of_record) values
  ('waiting', 'wait', null, 900, 0.95, 604800, true),
  ('waiting-time', 'wait', 95, null, null, 604800, false),
  ('running-time', 'run', 50, null, null, 604800, false),
  ('end-to-end', 'end-to-end', 50, null, null, 604800, false),
  ('first-failure', 'first-failure', 50, null, null, 604800, false),
  ('critical-path', 'critical-path', 50, null, null, 604800, false);

-- A job that is skipped waits for nothing, and has its whole time to live again when it is revived.
drop index job_to_expire;
-- Serves the sweep for jobs that have waited too long for their start.
create index job_to_expire on job (expires_at)
  where expires_at is not null and state in ('blocked', 'ready', 'queued');
