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
