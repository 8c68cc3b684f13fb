-- Serves a repository's newest indexes of whatever branch, for builds that have nothing nearer.
create index commit_index_by_repository on commit_index (project, repository, environment, updated_at desc);
