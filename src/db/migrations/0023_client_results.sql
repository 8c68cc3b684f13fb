-- Results of actions may come from clients, too: build tools that share what they built by themselves.

alter table action_result
  alter column execution_id drop not null,
  alter column attempt drop not null,
  -- The principal that wrote it; null when it is the result of an execution of this farm.
  add column written_by text,
  add constraint a_result_comes_from_an_execution_or_a_client check (
    (execution_id is null) = (attempt is null) and (execution_id is null) = (written_by is not null));

-- Serves retention of those that no invocation's row stands for.
create index operation_of_no_invocation on operation (requested_at) where invocation = '';
-- Serves finding what a cancelled invocation still waits for.
create index invocation_cancelled on invocation (cancelled_at) where cancelled_at is not null;
