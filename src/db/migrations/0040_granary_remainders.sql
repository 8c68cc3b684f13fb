-- Serves a repository's newest indexes of whatever branch, for builds that have nothing nearer.
create index commit_index_by_repository on commit_index (project, repository, environment, updated_at desc);

-- How long before it was asked for what came ahead was there, in the middle; none where nothing came.
alter table granary_build
  add column lead_ms bigint,
  add constraint what_came_ahead_was_there_before check (lead_ms >= 0);
