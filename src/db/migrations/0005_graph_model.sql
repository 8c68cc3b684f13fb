-- Graphs in sets, runs that know why they are, edges that can be waived, jobs that can be set aside.

alter table graph
  -- Graphs of one set are asked about and acted on together; a graph alone is its own set.
  add column set_id uuid,
  -- Which graph this one comes from, and how.
  add column parent_id uuid references graph,
  add column parent_kind text,
  -- Of a subgraph: the job whose output it is.
  add column parent_job text,
  -- The branch that the graph was made for; empty when it is of none.
  add column branch text not null default '',
  add column switches jsonb not null default '{}',
  -- Higher is sooner. What was asked for, already within the caps.
  add column priority integer not null default 0,
  -- Of the one class that nothing overtakes.
  add column top boolean not null default false,
  add column submitted_by text not null default 'anyone';
update graph set set_id = id;
alter table graph
  alter column set_id set not null,
  add constraint a_set_is_named_by_its_first_graph foreign key (set_id) references graph,
  add constraint a_parent_kind_is_known
    check (parent_kind in ('clone', 'backfill', 'bisect', 'subgraph')),
  add constraint a_graph_with_a_parent_says_how check ((parent_id is null) = (parent_kind is null)),
  add constraint a_subgraph_is_of_a_job check ((parent_kind = 'subgraph') = (parent_job is not null)),
  add constraint a_graph_is_not_its_own_parent check (parent_id <> id);
-- Serves "all graphs of this set", newest first.
create index graph_by_set on graph (set_id, number);
-- Serves "what became of this graph": its clones, backfills, subgraphs.
create index graph_by_parent on graph (parent_id) where parent_id is not null;

alter table job
  -- The longest way to it from a job that waits for nothing. Changes run from low to high.
  add column depth integer not null default 0,
  -- The definition before somebody customised this job, and what they changed. Null: nobody did.
  add column template_definition text references definition,
  add column patch jsonb,
  add column priority integer not null default 0,
  -- Why it wants no run, though none ended it.
  add column set_aside text,
  -- What the newest finished run gave to others: its outcome, and a digest of its outputs.
  add column yield text not null default '',
  -- In-edges whose source has given something else since this job last ran, or is stale itself.
  add column stale_edges integer not null default 0,
  add column stale boolean not null default false,
  -- Who asked for the run that is wanted, in which words, and when.
  add column wanted_by text,
  add column wanted_why text,
  add column wanted_at timestamptz,
  -- How long a wanted run may wait for its start, and what it means when it waited too long.
  add column ttl_ms bigint,
  add column on_expiry text not null default 'fail',
  add column expires_at timestamptz,
  -- Whose run answers for this job.
  add column coalesced_graph uuid,
  add column coalesced_job text,
  drop constraint a_job_state_is_known,
  add constraint a_job_state_is_known check (state in
    ('inactive', 'blocked', 'unreachable', 'waiting', 'ready', 'queued', 'running', 'succeeded',
     'failed', 'cancelled', 'expired', 'coalesced')),
  drop constraint a_job_kind_is_known,
  add constraint a_job_kind_is_known check (kind in
    ('command', 'join', 'breakpoint', 'timer', 'notify', 'graph', 'dummy')),
  drop constraint a_cause_is_known,
  add constraint a_cause_is_known check (wanted in
    ('first', 'auto-retry', 'retrigger', 'revive', 'downstream', 'activate', 'backfill', 'bisect')),
  add constraint a_job_is_set_aside_for_a_known_reason check (set_aside in
    ('inactive', 'coalesced', 'expired-failed', 'expired-good', 'expired-bad')),
  add constraint a_job_that_is_set_aside_wants_nothing check (set_aside is null or wanted is null),
  add constraint a_patched_job_keeps_its_template
    check ((patch is null) = (template_definition is null)),
  add constraint stale_edges_are_counted_from_zero check (stale_edges >= 0),
  add constraint a_stale_job_has_run check (not stale or (runs > 0 and stale_edges > 0)),
  add constraint a_coalesced_job_says_into_what
    check ((set_aside = 'coalesced') = (coalesced_graph is not null and coalesced_job is not null)),
  add constraint an_expiry_is_known check (on_expiry in ('fail', 'skip-good', 'skip-bad'));
update job set wanted_at = graph.created_at, wanted_by = 'anyone'
  from graph where graph.id = job.graph_id and job.wanted is not null;

-- Serves the sweep for jobs that have waited too long.
create index job_to_expire on job (expires_at)
  where expires_at is not null and state in ('blocked', 'unreachable', 'ready', 'queued', 'waiting');

alter table edge
  drop constraint an_edge_condition_is_known,
  add constraint an_edge_condition_is_known
    check (condition in ('success', 'failure', 'end') or condition ~ '^outcome:[a-z][a-z0-9_-]{0,63}$'),
  drop constraint an_edge_starts_at_a_job,
  drop constraint an_edge_ends_at_a_job,
  add column waived_by text,
  add column waived_reason text,
  add column waived_at timestamptz,
  -- The yield of the awaited job that the waiting job's latest run used; null before its first.
  add column taken text,
  add column stale boolean not null default false,
  add constraint a_waiver_has_a_name_and_a_reason
    check ((waived_by is null) = (waived_reason is null) and (waived_by is null) = (waived_at is null)),
  add constraint a_waived_edge_is_met check (waived_by is null or status = 'met'),
  add constraint only_who_has_run_has_taken_something_stale check (not stale or taken is not null);

-- What the two foreign keys of an edge said, once for a whole statement: a graph of 10,000 jobs has
-- 30,000 edges, and a look for each end of each took most of the time in which it was stored.
-- The ends of an edge never change, and jobs are never deleted.
create function assert_edges_have_jobs() returns trigger language plpgsql as $$
begin
  if exists (
    select from new_edge
    where not exists (select from job where job.graph_id = new_edge.graph_id and job.name = new_edge.job)
      or not exists (select from job where job.graph_id = new_edge.graph_id and job.name = new_edge.on_job)
  ) then
    raise foreign_key_violation using
      message = 'an edge has no job at one of its ends', table = 'edge',
      constraint = 'an_edge_joins_two_jobs_of_its_graph';
  end if;
  return null;
end $$;
create trigger an_edge_joins_two_jobs_of_its_graph after insert on edge
  referencing new table as new_edge
  for each statement execute function assert_edges_have_jobs();

-- The same for jobs, which are many and of one graph. Nobody deletes graphs or definitions.
create function assert_jobs_have_definitions() returns trigger language plpgsql as $$
begin
  if exists (
    select from (select distinct graph_id, definition from new_job) as new_job
    where not exists (select from graph where graph.id = new_job.graph_id)
      or not exists (select from definition where definition.digest = new_job.definition)
  ) then
    raise foreign_key_violation using
      message = 'a job has no graph or no definition', table = 'job',
      constraint = 'a_job_has_a_graph_and_a_definition';
  end if;
  return null;
end $$;
alter table job drop constraint job_graph_id_fkey, drop constraint job_definition_fkey;
create trigger a_job_has_a_graph_and_a_definition after insert on job
  referencing new table as new_job
  for each statement execute function assert_jobs_have_definitions();
-- Later, only somebody who customises a job gives it another one.
create function assert_job_has_definition() returns trigger language plpgsql as $$
begin
  if not exists (select from definition where definition.digest = new.definition) then
    raise foreign_key_violation using
      message = 'a job has no definition', table = 'job',
      constraint = 'a_job_has_a_graph_and_a_definition';
  end if;
  return null;
end $$;
create trigger a_customised_job_has_a_definition after update of definition on job
  for each row when (new.definition is distinct from old.definition)
  execute function assert_job_has_definition();

alter table run
  -- A worker, the farm itself, a machine outside, or the items of a chunked job.
  add column served_by text not null default 'execution',
  add column asked_by text,
  add column why text,
  add column wanted_at timestamptz,
  add column ready_at timestamptz,
  -- Of a run that the farm serves: when it goes on by itself.
  add column due_at timestamptz,
  add column yield text,
  -- Which run of each awaited job it used: {job: number}.
  add column input_runs jsonb not null default '{}',
  drop constraint a_run_state_is_known,
  add constraint a_run_state_is_known check (state in ('queued', 'waiting', 'running', 'finished')),
  drop constraint a_run_cause_is_known,
  add constraint a_run_cause_is_known check (cause in
    ('first', 'auto-retry', 'retrigger', 'revive', 'downstream', 'activate', 'backfill', 'bisect')),
  drop constraint a_run_in_the_queue_has_an_execution,
  add constraint a_run_is_served_by_somebody
    check (served_by in ('execution', 'farm', 'outside', 'items')),
  add constraint a_run_in_the_queue_has_an_execution
    check (state = 'finished' or served_by <> 'execution' or execution_id is not null),
  add constraint only_the_farm_lets_runs_wait check (state <> 'waiting' or served_by = 'farm'),
  add constraint only_the_farm_has_things_due check (due_at is null or served_by = 'farm');
update run set yield = outcome, wanted_at = queued_at, ready_at = queued_at where state = 'finished';
update job set yield = run.yield
  from run where run.graph_id = job.graph_id and run.job = job.name and run.number = job.runs
  and run.yield is not null;

-- A job has one run at a time: what two of them would mean for those that wait, nobody could say.
create unique index run_under_way on run (graph_id, job) where state <> 'finished';
-- Serves the farm's own errands: breakpoints that time out, timers, dummy jobs.
create index run_due on run (due_at) where state <> 'finished' and served_by = 'farm' and due_at is not null;
-- Serves times of waiting and of running, by when runs ended.
create index run_by_end on run (finished_at) where state = 'finished';

-- What people did to graphs, jobs and edges, and why. Only ever added to.
create table audit_entry (
  seq bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  verb text not null,
  graph_id uuid references graph,
  job text,
  detail jsonb not null default '{}',
  reason text,
  constraint an_audit_entry_names_its_actor check (actor <> '')
);
-- Serves "what was done to this graph".
create index audit_entry_by_graph on audit_entry (graph_id, seq);
