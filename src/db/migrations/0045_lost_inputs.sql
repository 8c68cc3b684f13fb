-- How often a run of the job ended because the store had lost inputs of it: another run follows by itself, which does
-- not count against the job's own retries, and whose inputs are looked for in the store anew.
alter table job add column input_losses integer not null default 0,
  add constraint input_losses_are_counted_from_zero check (input_losses >= 0);
