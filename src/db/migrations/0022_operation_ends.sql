-- What became of operations is kept with them: executions are deleted earlier than invocations.
-- Written in the transaction that ends the execution.

alter table operation
  add column finished_at  timestamptz,
  add column outcome      text,
  add column exit_code    integer,
  add column worker       text,
  add constraint an_operation_ends_with_an_outcome check ((finished_at is null) = (outcome is null));

-- Serves counting what became of an invocation's operations, and those that are open. Each execution once.
create index operation_by_outcome on operation (project, invocation, outcome, execution_id);
-- Serves counting an invocation's hits, and listing them in order.
create index cache_lookup_hits on cache_lookup (project, invocation, looked_up_at, action_digest collate "C")
  where hit;
-- Serves the list of one project's invocations.
create index invocation_of_project_by_time on invocation (project, first_seen_at desc, id);
-- Instead of operation_watched: what is over is in nobody's way.
drop index operation_watched;
create index operation_open on operation (watched_until) where outcome is null;
