-- What names an action before its inputs are known. `over`: of all that the job may read, so that equal ones
-- mean the same action. `weak`: of its command and the names of its inputs, a hint at most.
create table approximation (
  project       text not null,
  domain        text not null,
  kind          text not null,
  -- SHA-256 in hex.
  approximation text not null,
  -- Keeps how many actions one hint leads to within bounds, without a look at the others.
  slot          smallint not null default 0,
  action_digest text not null,
  created_at    timestamptz not null default now(),
  -- At most an hour behind.
  last_used_at  timestamptz not null default now(),
  primary key (project, domain, kind, approximation, slot),
  constraint an_approximation_is_over_or_weak check (kind in ('over', 'weak')),
  constraint an_over_approximation_means_one_action_and_a_weak_one_few
    check (slot between 0 and case kind when 'over' then 0 else 7 end),
  constraint an_approximation_is_not_used_before_it_is_made check (last_used_at >= created_at)
);
-- Serves forgetting what was unused longest.
create index approximation_by_last_use on approximation (last_used_at);

alter table job
  -- The job that finds its inputs.
  add column finder text,
  -- Whether its action may be known before its inputs are found: nobody has asked yet, it was, it was not.
  add column approximation text,
  drop constraint a_job_is_set_aside_for_a_known_reason,
  add constraint a_job_is_set_aside_for_a_known_reason check (set_aside in
    ('inactive', 'coalesced', 'unneeded', 'expired-failed', 'expired-good', 'expired-bad')),
  add constraint what_became_of_an_approximation_is_known
    check (approximation in ('open', 'hit', 'missed')),
  add constraint who_has_no_finder_has_no_approximation check (approximation is null or finder is not null);

-- Serves the preparers: jobs that wait for nothing but their inputs. Nearly always empty.
create index job_to_approximate on job (graph_id, finder)
  where approximation = 'open' and state = 'blocked' and open_edges = 1 and failed_edges = 0;
