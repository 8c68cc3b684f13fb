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

-- What lets the farm into a plain Git repository: the whole address, AES-256-GCM under the key of this id, bound to
-- the slug, which is the address without it. What older rows have in their slugs is sealed when a server starts.
alter table forge_repository add column way bytea;
alter table forge_repository add column way_key text;
alter table forge_repository
  add constraint a_way_is_sealed_with_a_key check ((way is null) = (way_key is null));

-- Up to when what a forge says that it sent was compared with what came.
create table forge_delivery_mark (
  only_one boolean primary key default true,
  until timestamptz not null,
  constraint there_is_one_mark check (only_one)
);

-- What the definitions of a graph may ask for that somebody wrote who may not write in its repository: graphs that are
-- made of it anew are held to the same. Null: of others.
alter table graph add column outsiders jsonb;
with recursive of_fork (id, outsiders) as (
  select graph.id, jsonb_build_object(
      'network', coalesce(watched.policy -> 'forkNetwork', 'false'),
      'platform', coalesce(watched.policy -> 'forkPlatform', '{"OSFamily": ["*"], "ISA": ["*"]}'))
  from graph
  join forge_graph as made on made.id = graph.id
  join forge_pull as pull on pull.repository = made.repository and pull.number = made.pull
  join forge_repository as watched on watched.name = made.repository
  where pull.is_fork
  union
  select clone.id, of_fork.outsiders
  from graph as clone join of_fork on clone.parent_id = of_fork.id and clone.parent_kind = 'clone'
)
update graph set outsiders = of_fork.outsiders from of_fork where graph.id = of_fork.id;
