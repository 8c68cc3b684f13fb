-- What runs are given and nobody else may read, and who may keep such.

create table secret (
  id bigint generated always as identity primary key,
  name text not null,
  -- Patterns in which * stands for any characters: where it is given.
  repository text not null,
  branch text not null,
  -- Whose own domains (`user/NAME`) are given it, too: a pattern of names. Nobody's when null.
  users text,
  -- One more with each value. What is named with an older one is not given any more.
  version integer not null default 1,
  -- AES-256-GCM under the key of this id, bound to everything above: a row that somebody altered, or a value that
  -- somebody moved to another row, opens no more.
  key_id text not null,
  sealed bytea not null,
  set_at timestamptz not null,
  set_by text not null,
  constraint a_secret_is_set_once_for_a_place unique (name, repository, branch),
  constraint a_secret_has_a_plain_name check (name ~ '^[A-Za-z][A-Za-z0-9_-]{0,63}$')
);

alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb in
  ('*', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise', 'prioritise', 'clone', 'report',
   'define', 'sign', 'execute', 'cache', 'benchmark', 'measure', 'administer', 'work', 'secret', 'forge'));

-- Which runs made what, for who asks by a digest. Follows from finished runs; filled when somebody asks.
create table provenance_subject (
  -- The hash alone, in hex.
  hash text not null,
  graph_id uuid not null,
  job text not null,
  run integer not null,
  finished_at timestamptz not null,
  primary key (hash, graph_id, job, run)
);

-- Up to where runs have been looked through.
create table provenance_mark (
  only_one boolean primary key default true,
  until timestamptz not null,
  constraint there_is_one_mark check (only_one)
);
