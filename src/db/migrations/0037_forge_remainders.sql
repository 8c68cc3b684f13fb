-- How often each case is run, where somebody asks for more than the suite says. 50 is what a suite may say.
alter table benchmark_request
  add column runs int constraint "a request asks for 1 to 50 runs" check (runs between 1 and 50);
alter table benchmark_job
  add column runs int constraint "a job takes 1 to 50 runs" check (runs between 1 and 50);
-- Who asks for more runs than a job in hand takes gets a job beside it, which takes what is missing then.
drop index benchmark_job_once;
create unique index benchmark_job_once on benchmark_job
  (artifact_id, section, target, backend, profile, benchmark_set, benchmarks, suite_digest, coalesce(runs, 0))
  where purpose in ('own', 'backfill') and state in ('queued', 'in-progress');

-- Where each job of a directory of definitions is written: {"jobs": {NAME: [FILE, LINE]}, "expressions": [[FILE, LINE]]}.
-- Null: it was read before this was noted; it is read again when the next graph is made of it.
alter table catalog_source add column places jsonb;
-- Git's id of the directory of definitions, where they are the commit's own.
alter table graph
  add column definitions_tree text
    constraint a_tree_of_definitions_is_40_hex_digits check (definitions_tree ~ '^[0-9a-f]{40}$');

-- Two pull requests may have one head, and one request that measures it: each has a comment of its own.
alter table forge_subject drop constraint forge_subject_pkey;
create unique index forge_subject_once on forge_subject (kind, id, repository, coalesce(pull, 0));
