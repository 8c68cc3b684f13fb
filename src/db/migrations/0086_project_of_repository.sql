-- The blobs and results of a repository's jobs belong to a project. Existing farms keep `default`.
alter table repository
  add column project text not null default 'default',
  add constraint a_project_of_a_repository_has_a_legal_name
    check (project ~ '^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$');

-- The project of the repository when the graph was made: its blobs stay there when the repository gets another one.
alter table graph add column project text not null default 'default';

create index repository_by_project on repository (project);
