-- What build tools tell of themselves while they run (google.devtools.build.v1.PublishBuildEvent).

-- One invocation, as its events tell it.
create table build (
  project             text not null,
  invocation          text not null,
  -- Of the tool's own making. Two builds under one invocation id are told apart by it.
  build_id            text not null,
  -- Who sent the first event. Nobody else may send the others.
  principal           text not null,
  -- All events up to this number are kept, and answered.
  acknowledged        bigint not null default 0,
  -- The last event of all is among them.
  complete            boolean not null default false,
  first_heard_at      timestamptz not null,
  -- Renewed while its stream is open, also when the tool has nothing to say.
  last_heard_at       timestamptz not null,

  command             text not null default '',
  tool_version        text not null default '',
  patterns            text[] not null default '{}',
  options             text[] not null default '{}',
  keywords            text[] not null default '{}',
  metadata            jsonb not null default '{}',
  workspace_status    jsonb not null default '{}',
  -- Told by the three before.
  user_name           text not null default '',
  host                text not null default '',
  repository          text,
  branch              text,
  commit              text,

  started_at          timestamptz,
  finished_at         timestamptz,
  exit_code           integer,
  exit_name           text,
  -- What the frame around the events told, for a tool that could not tell the end itself.
  result              text,
  failure             text,
  metrics             jsonb not null default '{}',
  profile_name        text,
  profile_uri         text,

  -- Kept against the bounds of what one build may store.
  log_bytes           bigint not null default 0,
  targets             integer not null default 0,
  tests               integer not null default 0,
  file_sets           integer not null default 0,
  primary key (project, invocation),

  constraint a_build_is_heard_in_order check (last_heard_at >= first_heard_at),
  constraint a_profile_has_a_place check ((profile_name is null) = (profile_uri is null))
) with (fillfactor = 70);

-- Serves the builds of a commit, the newest first.
create index build_by_commit on build (commit, first_heard_at desc) where commit is not null;
-- Serves retention.
create index build_by_last_heard on build (last_heard_at);

create table build_target (
  project             text not null,
  invocation          text not null,
  label               text not null,
  aspect              text not null,
  kind                text not null default '',
  -- Null while it is being built. One of several configurations that fails makes it false.
  success             boolean,
  -- Why the tool gave it up, in its words.
  aborted             text,
  test_status         text,
  duration_ms         bigint,
  outputs             jsonb not null default '[]',
  primary key (project, invocation, label, aspect),
  foreign key (project, invocation) references build on delete cascade
);

create table build_test (
  project             text not null,
  invocation          text not null,
  label               text not null,
  configuration       text not null,
  run                 integer not null,
  shard               integer not null,
  attempt             integer not null,
  status              text not null,
  started_at          timestamptz,
  duration_ms         bigint not null,
  cached              boolean not null,
  files               jsonb not null,
  primary key (project, invocation, label, configuration, run, shard, attempt),
  foreign key (project, invocation) references build on delete cascade
);

-- Files that targets name together. Needed until the build is complete: targets keep what they name.
create table build_file_set (
  project             text not null,
  invocation          text not null,
  id                  text not null,
  files               jsonb not null,
  -- Other sets that belong to it.
  sets                text[] not null,
  primary key (project, invocation, id),
  foreign key (project, invocation) references build on delete cascade
);

-- What the tool printed.
create table build_log (
  project             text not null,
  invocation          text not null,
  byte_offset         bigint not null,
  bytes               bytea not null,
  primary key (project, invocation, byte_offset),
  foreign key (project, invocation) references build on delete cascade
);
