-- The benchmark lab: artifacts of a toolchain, what was asked to be measured of them, on which collector, and what came of it.
--
-- Rows of figures name their environment by its number (`environment_id`), never by the text of its fingerprint:
-- 64 letters in every row and in every key would be more than the figures themselves. Whoever stores figures has the
-- number from the row of `benchmark_environment` that hello put there.

create table benchmark_suite (
  name text primary key,
  -- sha256 of the definition's canonical JSON.
  digest text not null,
  definition jsonb not null,
  changed_by text not null,
  changed_at timestamptz not null,
  -- When its source was looked at last for new artifacts, and what went wrong there.
  looked_at timestamptz,
  look_failed text
);

-- What a suite said before. Jobs name the digest that they were made by: a change does not reach into a request under way.
create table benchmark_suite_version (
  digest text primary key,
  suite text not null references benchmark_suite (name),
  definition jsonb not null,
  stored_at timestamptz not null
);

-- Metrics of a suite, numbered in order of first use. Results hold their values in this order; a number is never given twice.
create table benchmark_metric (
  suite text not null references benchmark_suite (name),
  ordinal int not null check (ordinal >= 1),
  name text not null,
  nature text not null check (nature in ('exact', 'deterministic', 'noisy')),
  unit text not null,
  primary key (suite, ordinal),
  unique (suite, name)
);

create table benchmark_artifact (
  id int generated always as identity primary key,
  suite text not null references benchmark_suite (name),
  -- What people call it: a version, a nightly's day, a commit.
  tag text not null,
  kind text not null check (kind in ('master', 'release', 'try')),
  -- When it was made, as its own name or commit says; the main line is ordered by (dated_at, tag).
  dated_at timestamptz not null,
  -- backend -> where to get what serves it (see artifacts/component.ts).
  components jsonb not null,
  parent_id int references benchmark_artifact (id),
  commit_sha text,
  known_since timestamptz not null,
  unique (suite, tag),
  check (parent_id <> id)
);
create index benchmark_artifact_line on benchmark_artifact (suite, kind, dated_at, tag);

create table benchmark_request (
  id uuid primary key,
  suite text not null references benchmark_suite (name),
  artifact_id int not null references benchmark_artifact (id),
  -- What it is compared with. The one of its artifact, unless somebody named another.
  parent_id int references benchmark_artifact (id),
  kind text not null check (kind in ('master', 'release', 'try')),
  pr int check (pr >= 0),
  state text not null check (state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress', 'completed', 'failed', 'cancelled')),
  -- Empty: what the suite usually takes.
  backends text[] not null default '{}',
  profiles text[] not null default '{}',
  targets text[] not null default '{}',
  -- Empty: all benchmarks.
  benchmarks text[] not null default '{}',
  -- Whether processes of parent and child are interleaved for noisy metrics.
  paired boolean not null,
  requested_by text not null,
  -- Why it is there when no person asked: a cron, a search, a parent that was missing.
  because text not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  ended_by text,
  check ((state in ('completed', 'failed', 'cancelled')) = (ended_at is not null)),
  check (state not in ('in-progress', 'completed', 'failed') or started_at is not null)
);
-- Two who ask for the same at once: the second adds to the first.
create unique index benchmark_request_unended on benchmark_request (artifact_id)
  where state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress');
create index benchmark_request_open on benchmark_request (suite, created_at)
  where state in ('waiting-for-artifacts', 'artifacts-ready', 'in-progress');
create index benchmark_request_ended on benchmark_request (suite, ended_at desc) where ended_at is not null;
create index benchmark_request_artifact on benchmark_request (artifact_id, created_at);
create index benchmark_request_ended_last on benchmark_request (ended_at desc) where ended_at is not null;
create index benchmark_request_newest on benchmark_request (created_at desc, id);

-- A terminal state never changes, whatever code asks for it.
create function refuse_to_reopen_requests() returns trigger language plpgsql as $$
begin
  raise exception 'request % is %, and stays so', old.id, old.state using errcode = 'integrity_constraint_violation';
end $$;
create trigger ended_requests_stay before update of state on benchmark_request for each row
  when (old.state in ('completed', 'failed', 'cancelled') and new.state <> old.state)
  execute function refuse_to_reopen_requests();

-- What a machine was like while it measured. The fingerprint is the digest of the facts that may change a figure.
create table benchmark_environment (
  id int generated always as identity primary key,
  fingerprint text not null unique,
  facts jsonb not null,
  first_seen_at timestamptz not null
);

create table collector (
  name text primary key,
  target text not null,
  -- Null: all sets.
  benchmark_set int check (benchmark_set >= 0),
  -- Sets that it may take over when who serves them is silent.
  may_take_over int[] not null default '{}',
  active boolean not null,
  -- Why it gets no work although it is active; its own A/A test failed, or somebody said so.
  out_of_duty text,
  -- Whether it was the test: the next one that passes then ends it.
  out_of_duty_by_test boolean not null default false,
  added_at timestamptz not null,
  added_by text not null,
  last_heartbeat_at timestamptz,
  -- When an offline collector was told of, so that it is told once.
  told_silent_at timestamptz,
  version text,
  fingerprint text references benchmark_environment (fingerprint),
  -- One process at a time speaks for a collector: the one that said hello last.
  incarnation uuid
);
create unique index collector_serves on collector (target, benchmark_set) nulls not distinct where active;

create table benchmark_job (
  id uuid primary key,
  request_id uuid not null references benchmark_request (id),
  -- The request's artifact, or for a backfill its parent.
  artifact_id int not null references benchmark_artifact (id),
  -- What it is interleaved with; only for `paired` and `confirm`.
  against_id int references benchmark_artifact (id),
  suite_digest text not null references benchmark_suite_version (digest),
  purpose text not null check (purpose in ('own', 'backfill', 'paired', 'confirm')),
  section text not null check (section in ('compile', 'runtime', 'toolchain')),
  target text not null,
  backend text not null,
  -- Empty where the section knows no profiles.
  profile text not null,
  benchmark_set int not null check (benchmark_set >= 0),
  -- Empty: all of the set.
  benchmarks text[] not null default '{}',
  -- For `confirm`: the cases and metrics in doubt.
  doubts jsonb,
  optional boolean not null,
  state text not null check (state in ('queued', 'in-progress', 'success', 'failure', 'cancelled')),
  attempts int not null default 0 check (attempts >= 0),
  max_attempts int not null check (max_attempts >= 1),
  not_before timestamptz not null,
  epoch int not null default 0,
  -- Who has it, or had it last and gets it first.
  collector_name text references collector (name),
  -- The collector's process that it was handed to.
  incarnation uuid,
  lease_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  error text,
  check ((against_id is not null) = (purpose in ('paired', 'confirm'))),
  check (state <> 'in-progress' or (collector_name is not null and lease_until is not null and started_at is not null)),
  check ((state in ('success', 'failure', 'cancelled')) = (ended_at is not null)),
  check (attempts <= max_attempts),
  check (state <> 'failure' or error is not null)
);
-- The same work is in hand once: for a child's parent it may have been put there by a sibling, or by the parent's own request.
create unique index benchmark_job_once on benchmark_job
  (artifact_id, section, target, backend, profile, benchmark_set, benchmarks, suite_digest)
  where purpose in ('own', 'backfill') and state in ('queued', 'in-progress');
-- A collector never has two at once.
create unique index benchmark_job_of_collector on benchmark_job (collector_name) where state = 'in-progress';
create index benchmark_job_of_request on benchmark_job (request_id);
create index benchmark_job_open on benchmark_job (target, benchmark_set) where state in ('queued', 'in-progress');
create index benchmark_job_ended on benchmark_job (ended_at) where ended_at is not null;
create index benchmark_job_of_artifact on benchmark_job (artifact_id);
-- How long its like took lately.
create index benchmark_job_took on benchmark_job (target, section, backend, profile, benchmark_set, ended_at desc)
  where state = 'success';

-- What a request waits for, or rests on: its own jobs, and those of others that do the same work. It outlives
-- the jobs, which are removed a month after their end.
create table benchmark_request_job (
  request_id uuid not null references benchmark_request (id),
  job_id uuid not null,
  -- Kept when the job is removed.
  failed boolean not null default false,
  primary key (request_id, job_id)
);
create index benchmark_request_job_of_job on benchmark_request_job (job_id);

create table benchmark_case (
  id int generated always as identity primary key,
  suite text not null references benchmark_suite (name),
  section text not null check (section in ('compile', 'runtime', 'toolchain')),
  benchmark text not null,
  profile text not null,
  scenario text not null,
  backend text not null,
  target text not null,
  unique (suite, section, benchmark, profile, scenario, backend, target)
);

-- One iteration of a test: all its values, by the metrics' ordinals; null where a metric was not taken.
create table benchmark_collection (
  artifact_id int not null references benchmark_artifact (id),
  case_id int not null references benchmark_case (id),
  environment_id int not null references benchmark_environment (id),
  iteration int not null check (iteration >= 1),
  sample float8[] not null,
  collector_name text not null,
  job_id uuid not null,
  epoch int not null,
  measured_at timestamptz not null,
  -- What weakens it: a load beside it, a clock that changed (see measuring/environment).
  warnings text[] not null default '{}',
  primary key (artifact_id, case_id, environment_id, iteration)
);

-- The best of each metric over a test's iterations: the least where lower is better, else the most. Derived in the
-- transaction that stores them.
create table benchmark_result (
  artifact_id int not null references benchmark_artifact (id),
  case_id int not null references benchmark_case (id),
  environment_id int not null references benchmark_environment (id),
  least float8[] not null,
  iterations int not null check (iterations >= 1),
  collector_name text not null,
  measured_at timestamptz not null,
  primary key (artifact_id, case_id, environment_id)
);
-- A series is read without a look at the rows, of which each of its artifacts has one on another page: 3,000 points
-- are 100 pages of this index and 3,000 of the table. It doubles what results take, a sixth of what their samples do.
create index benchmark_result_of_case on benchmark_result (case_id, artifact_id)
  include (environment_id, least, collector_name);

-- Processes of a child and its parent, run in turn within one lease. Evidence for a verdict, never part of a baseline.
create table benchmark_pair (
  job_id uuid not null,
  -- The job's, which is gone a month later: a confirming run is a rerun of its own.
  purpose text not null check (purpose in ('paired', 'confirm')),
  case_id int not null references benchmark_case (id),
  pair int not null check (pair >= 1),
  artifact_id int not null references benchmark_artifact (id),
  against_id int not null references benchmark_artifact (id),
  environment_id int not null references benchmark_environment (id),
  collector_name text not null,
  child float8[] not null,
  parent float8[] not null,
  parent_first boolean not null,
  measured_at timestamptz not null,
  -- Taken over by another machine, a job's pairs begin anew.
  primary key (job_id, case_id, environment_id, pair)
);
create index benchmark_pair_of on benchmark_pair (artifact_id, against_id, case_id);

-- R13: what was measured stays as it was measured. `benchmark_result` alone is derived, and may gain iterations.
create function refuse_to_change_measurements() returns trigger language plpgsql as $$
begin
  raise exception 'measurements are append-only: % of % refused', tg_op, tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger measurements_stay before update or delete on benchmark_collection
  for each row execute function refuse_to_change_measurements();
create trigger measurements_stay before update or delete on benchmark_pair
  for each row execute function refuse_to_change_measurements();

create table benchmark_error (
  id bigint generated always as identity primary key,
  artifact_id int not null references benchmark_artifact (id),
  job_id uuid not null,
  -- Null: the whole job.
  case_id int references benchmark_case (id),
  benchmark text not null,
  message text not null,
  at timestamptz not null
);
create index benchmark_error_of_artifact on benchmark_error (artifact_id);
create index benchmark_error_of_job on benchmark_error (job_id);
-- Told once, however often a collector says it.
create unique index benchmark_error_once on benchmark_error (job_id, benchmark, coalesce(case_id, 0), md5(message));

-- A request's comparison with its parent, made once when it ends.
create table benchmark_report (
  request_id uuid primary key references benchmark_request (id),
  document jsonb not null,
  made_at timestamptz not null
);

-- Steps on the main line of a series.
create table benchmark_change_point (
  case_id int not null references benchmark_case (id),
  metric int not null,
  environment_id int not null references benchmark_environment (id),
  -- The first artifact after the step, and the last measured before it.
  artifact_id int not null references benchmark_artifact (id),
  before_id int not null references benchmark_artifact (id),
  mean_before float8 not null,
  mean_after float8 not null,
  p float8 not null check (p between 0 and 1),
  found_at timestamptz not null,
  -- `accepted`: a change that was meant; noise is not judged across it. `dismissed`: none at all.
  standing text not null default 'found' check (standing in ('found', 'accepted', 'dismissed')),
  said_by text,
  note text,
  primary key (case_id, metric, environment_id, artifact_id)
);
create index benchmark_change_point_of_artifact on benchmark_change_point (artifact_id);
create index benchmark_change_point_found on benchmark_change_point (found_at desc);

-- Searches along the main line for where a series stepped.
create table benchmark_search (
  id uuid primary key,
  suite text not null references benchmark_suite (name),
  kind text not null check (kind in ('scan', 'change-points', 'bisect')),
  case_id int not null references benchmark_case (id),
  -- By name: it may be looked for before anything was measured.
  metric text not null,
  from_id int not null references benchmark_artifact (id),
  to_id int not null references benchmark_artifact (id),
  -- Of a scan: which of the line; every how many, or the first of each week or month.
  every text,
  -- Relative change below which nothing is a step.
  least float8 not null check (least > 0),
  state text not null check (state in ('running', 'found', 'nothing', 'failed', 'cancelled')),
  -- Artifacts that were asked for because of it.
  asked int[] not null default '{}',
  -- Steps that it found: ids of artifacts before and after, relative change, whether they are neighbours.
  steps jsonb not null default '[]',
  error text,
  requested_by text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  check ((state <> 'running') = (ended_at is not null))
);
create index benchmark_search_running on benchmark_search (created_at) where state = 'running';

-- Artifacts of the main line with new results, whose series nobody has looked at yet for steps.
create table benchmark_unexamined (
  artifact_id int primary key references benchmark_artifact (id),
  -- Not sooner than that. Who takes it puts it off: should that one die, it is taken up again then.
  due_at timestamptz not null,
  -- Who has it in hand; null again when there are newer results.
  taken uuid
);

-- A collector's comparison of one artifact with itself.
create table collector_self_test (
  id bigint generated always as identity primary key,
  collector_name text not null references collector (name),
  environment_id int not null references benchmark_environment (id),
  at timestamptz not null,
  comparisons int not null check (comparisons >= 0),
  alarms int not null check (alarms between 0 and comparisons),
  passed boolean not null,
  detail jsonb not null
);
create index collector_self_test_latest on collector_self_test (collector_name, at desc);

-- How far equal artifacts lay apart, for practical limits: |relative change| of A/A comparisons.
create table benchmark_noise (
  case_id int not null references benchmark_case (id),
  metric int not null,
  environment_id int not null references benchmark_environment (id),
  at timestamptz not null,
  change float8 not null check (change >= 0)
);
create index benchmark_noise_of on benchmark_noise (case_id, metric, environment_id, at desc);

-- Which server does what only one may do.
create table benchmark_leader (
  duty text primary key,
  holder uuid not null,
  until timestamptz not null
);

-- Two more things that somebody may be allowed to do: ask for measurements, and be who measures.
alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb in
  ('*', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise', 'prioritise',
   'clone', 'report', 'define', 'sign', 'execute', 'cache', 'benchmark', 'measure', 'administer'));
