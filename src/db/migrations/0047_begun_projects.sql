-- Who was the first to write into a project. The default project, and those from before this, are not here.
create table begun_project (
  name     text primary key,
  begun_by text not null,
  begun_at timestamptz not null
);
-- Serves counting what a principal has begun.
create index begun_project_by_principal on begun_project (begun_by);
