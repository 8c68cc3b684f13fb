-- What a worker found in a run's log, by the rules of the job's definition.
alter table run
  -- The class of failures that the rules put it into.
  add column failure_class text;
