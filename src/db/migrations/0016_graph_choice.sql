-- What whoever submitted a graph chose, so that it can be planned anew by the same choice.

alter table graph
  -- Which of the graphs that its definitions name; null for all jobs.
  add column named text,
  add column selection text,
  -- Parameters and switches as the submitter gave them; those of the branch are not among them.
  -- Null for graphs that nobody submitted, and for those from before this was kept.
  add column given jsonb,
  -- How long any of its jobs may wait for its start; null when only the jobs' own hold.
  add column ttl_ms bigint;
