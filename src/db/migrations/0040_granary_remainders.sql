-- Serves a repository's newest indexes of whatever branch, for builds that have nothing nearer.
create index commit_index_by_repository on commit_index (project, repository, environment, updated_at desc);

-- How long before it was asked for what came ahead was there, in the middle; none where nothing came.
alter table granary_build
  add column lead_ms bigint,
  add constraint what_came_ahead_was_there_before check (lead_ms >= 0);

-- Of a result that was put into quarantine because a doubted one was used when it was made: which one. Else "".
alter table quarantined_result
  add column made_from_namespace text not null default '',
  add column made_from_key text not null default '',
  add constraint what_it_was_made_from_is_a_result
    check ((made_from_namespace = '') = (made_from_key = ''));
create index quarantined_result_made_from
  on quarantined_result (project, made_from_namespace, made_from_key)
  where made_from_key <> '';
