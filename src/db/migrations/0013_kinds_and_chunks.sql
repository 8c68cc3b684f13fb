-- Jobs that the farm serves itself, what they leave to be done, and jobs whose items workers share.

-- Serves the preparer: ready jobs that need a machine, the longest ready first.
drop index job_to_prepare;
create index job_to_prepare on job (ready_at, graph_id, name)
  where state = 'ready' and kind in ('command', 'graph');
-- Serves the errand loop: ready jobs that need none. Apart, so that neither has to read past the other's.
create index job_to_serve on job (ready_at, graph_id)
  where state = 'ready' and kind not in ('command', 'graph');

-- A graph that a job of another one made. The run goes on until it is over.
create table child_graph (
  child uuid primary key references graph,
  graph_id uuid not null,
  job text not null,
  run integer not null,
  -- The child's version when it ended last; null while it goes on. A mark, written by whoever ends
  -- the child, for whoever ends the run: the two never hold both graphs.
  over_version bigint,
  -- What the run had to learn of it, it has learned.
  settled boolean not null default false,
  constraint a_run_makes_one_graph unique (graph_id, job, run),
  constraint a_child_graph_is_of_a_run foreign key (graph_id, job, run) references run (graph_id, job, number)
);
-- Serves the errand loop: runs whose graphs are over.
create index child_graph_to_settle on child_graph (graph_id) where over_version is not null and not settled;
-- Serves the sweep for graphs whose run was cancelled.
create index child_graph_under_way on child_graph (graph_id, job, run) where over_version is null;

-- What notify jobs tell, one row for each place. Kept after delivery, to be shown.
create table notification (
  id uuid primary key,
  graph_id uuid not null,
  job text not null,
  run integer not null,
  url text not null,
  body jsonb not null,
  state text not null default 'pending',
  attempts integer not null default 0,
  -- When it is tried next. A server that tries moves it first, so that one that dies loses its turn only.
  next_at timestamptz,
  give_up_at timestamptz not null,
  -- Why it was not delivered yet, or was only kept.
  problem text,
  delivered_at timestamptz,
  constraint a_notification_is_of_a_run foreign key (graph_id, job, run) references run (graph_id, job, number),
  constraint a_notification_state_is_known check (state in ('pending', 'delivered', 'kept', 'failed')),
  constraint only_a_pending_notification_is_tried check ((state = 'pending') = (next_at is not null)),
  constraint a_delivered_notification_says_when check ((state = 'delivered') = (delivered_at is not null))
);
-- Serves the delivery loop.
create index notification_to_deliver on notification (next_at) where state = 'pending';
-- Serves "are all of this run over" and the job's page.
create index notification_by_run on notification (graph_id, job, run);

-- A run whose items workers share.
create table chunked_run (
  graph_id uuid not null,
  job text not null,
  run integer not null,
  repository text not null references repository,
  -- The files that every batch sees, beside its items: hash/size of the root Directory.
  input_root text not null,
  -- What a worker must offer, as the queue compares it.
  platform jsonb not null,
  size_class integer not null,
  -- Batches under way: at least, at most.
  min_batches integer not null,
  max_batches integer not null,
  budget_ms bigint not null,
  retries integer not null,
  skip_cache boolean not null,
  state text not null default 'working',
  -- A server's right to put its outputs together, until a time.
  gathering_until timestamptz,
  primary key (graph_id, job, run),
  constraint a_chunked_run_is_a_run foreign key (graph_id, job, run) references run (graph_id, job, number),
  constraint a_chunked_run_state_is_known check (state in ('working', 'gathering', 'over')),
  constraint batches_have_a_range check (1 <= min_batches and min_batches <= max_batches)
);
-- Serves the loop that makes batches, and the one that gathers outputs.
create index chunked_run_under_way on chunked_run (graph_id) where state <> 'over';

create table work_item (
  graph_id uuid not null,
  job text not null,
  run integer not null,
  item text not null,
  estimate_ms double precision not null,
  state text not null default 'waiting',
  -- The batch that it is in, or was in last.
  batch integer,
  -- How many batches with it failed.
  failures integer not null default 0,
  -- Of an item that is tried again: with which others, exactly.
  again integer,
  duration_ms double precision,
  primary key (graph_id, job, run, item),
  constraint a_work_item_is_of_a_chunked_run
    foreign key (graph_id, job, run) references chunked_run (graph_id, job, run),
  constraint a_work_item_state_is_known check (state in ('waiting', 'batched', 'done', 'failed')),
  constraint a_batched_item_has_a_batch check (state = 'waiting' or batch is not null)
);

create table work_batch (
  graph_id uuid not null,
  job text not null,
  run integer not null,
  number integer not null,
  state text not null default 'planned',
  action_digest text,
  execution_id uuid,
  outcome text,
  message text,
  cached boolean not null default false,
  worker text,
  planned_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- build.bazel.remote.execution.v2.ActionResult, binary.
  result bytea,
  -- What its items took is kept as their history.
  measured boolean not null default false,
  -- A server's right to make its action, until a time.
  preparing_until timestamptz,
  primary key (graph_id, job, run, number),
  constraint a_work_batch_is_of_a_chunked_run
    foreign key (graph_id, job, run) references chunked_run (graph_id, job, run),
  constraint a_work_batch_state_is_known check (state in ('planned', 'queued', 'running', 'finished')),
  constraint a_batch_under_way_has_an_execution
    check (state in ('planned', 'finished') or execution_id is not null),
  constraint a_finished_batch_has_an_outcome check ((state = 'finished') = (outcome is not null))
);
-- Serves what the queue tells: which batches an execution serves.
create index work_batch_by_execution on work_batch (execution_id) where state in ('queued', 'running');
-- Serves the loop that turns planned batches into actions.
create index work_batch_to_submit on work_batch (planned_at) where state = 'planned';
-- Serves the loop that keeps what items took.
create index work_batch_to_measure on work_batch (finished_at) where state = 'finished' and not measured;
-- Serves the sweep for executions of runs that were cancelled.
create index work_batch_under_way on work_batch (graph_id, job, run) where state <> 'finished';

-- How long items took lately.
create table item_history (
  repository text not null references repository,
  job text not null,
  item text not null,
  -- A moving average: the latest counts half.
  duration_ms double precision not null,
  measured_at timestamptz not null default now(),
  primary key (repository, job, item)
);
