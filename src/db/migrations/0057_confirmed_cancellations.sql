-- When the worker that holds an execution said that it knows of its cancellation: from then on it starts no process of it.
alter table execution add column cancel_confirmed_at timestamptz,
  add constraint execution_only_cancellations_are_confirmed
    check (cancel_confirmed_at is null or cancel_requested_at is not null);
