-- What builds of commits asked for, and what granaries tell of builds. An index is advice: it names results,
-- it never is one.
create table commit_index (
  project      text not null,
  domain       text not null,
  -- As granaries name it; "" where a project has one only.
  repository   text not null,
  commit       text not null,
  -- A digest of OS, architecture and toolchain: builds of different environments are never mixed.
  environment  text not null,
  -- The commit's Git tree: a rebase with the same content has the same.
  tree         text not null default '',
  branch       text not null default '',
  -- hash/size of a CommitIndex message in the store.
  index        text not null,
  -- The blob that it is stored as a difference to; '' when it stands alone.
  base         text not null default '',
  -- How many blobs it takes to read it: itself and its bases.
  chain        integer not null,
  -- Whether some build of it said that it had asked for everything.
  complete     boolean not null default false,
  targets      jsonb not null default '[]',
  entries      integer not null,
  -- What all blobs of its entries come to.
  bytes        bigint not null,
  -- Builds that it was put together from.
  builds       integer not null default 1,
  principal    text not null,
  -- Goes up at every change; whoever merges says which it has read.
  version      bigint not null default 1,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  -- At most an hour behind.
  last_used_at timestamptz not null default now(),
  primary key (project, domain, repository, commit, environment),

  constraint a_domain_of_an_index_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+|user/[A-Za-z0-9._-]{1,64})$'),
  constraint an_indexed_commit_is_whole check (commit ~ '^[0-9a-f]{40}([0-9a-f]{24})?$'),
  constraint an_environment_is_a_word check (environment ~ '^[A-Za-z0-9._-]{1,128}$'),
  constraint a_chain_is_short check (chain between 1 and 8),
  constraint an_index_counts_what_it_has check (entries >= 0 and bytes >= 0 and builds >= 1)
);
-- Serves the same content under another commit.
create index commit_index_by_tree on commit_index (project, repository, environment, tree) where tree <> '';
-- Serves a branch's newest.
create index commit_index_by_branch on commit_index (project, repository, environment, branch, updated_at desc)
  where branch <> '';
-- Serves forgetting, and the list of a project's newest.
create index commit_index_by_last_use on commit_index (last_used_at);
create index commit_index_by_update on commit_index (project, updated_at desc);

-- A build that a granary told of, once; `id` is the granary's own.
create table granary_build (
  id           uuid primary key,
  project      text not null,
  repository   text not null,
  commit       text not null default '',
  branch       text not null default '',
  environment  text not null,
  machine      text not null,
  principal    text not null,
  started_at   timestamptz not null,
  ended_at     timestamptz not null,
  -- Of what was asked for: results by where they came from.
  local        integer not null,
  prefetched   integer not null,
  fetched      integer not null,
  missed       integer not null,
  unreachable  integer not null,
  -- Bytes that were fetched ahead, and those of them that nobody asked for.
  prefetched_bytes bigint not null,
  wasted_bytes     bigint not null,
  -- What making all hits had taken when they were made, as far as it is known.
  saved_ms     bigint not null,
  -- How long it waited for its granary or the farm.
  waited_ms    bigint not null,
  -- A GranaryBuildReport.
  report       jsonb not null,
  constraint a_build_ends_after_its_start check (ended_at >= started_at),
  constraint a_build_counts_from_zero check (least(local, prefetched, fetched, missed, unreachable,
    prefetched_bytes, wasted_bytes, saved_ms, waited_ms) >= 0)
);
create index granary_build_by_time on granary_build (project, ended_at desc, id);
-- Serves forgetting, and sums over all projects.
create index granary_build_by_end on granary_build (ended_at);
create index granary_build_of_commit on granary_build (project, repository, commit, ended_at desc);

-- Results that came out otherwise when they were made once more. None of them is given to anybody.
create table quarantined_result (
  project      text not null,
  namespace    text not null,
  key          text not null,
  found_at     timestamptz not null default now(),
  found_by     text not null,
  -- Who had written it, as far as it is known.
  producer     text not null default '',
  -- A Divergence: what was kept, what came out.
  divergence   jsonb not null,
  -- Taken out of quarantine, by whom.
  released_at  timestamptz,
  released_by  text,
  primary key (project, namespace, key),
  constraint a_release_has_a_name check ((released_at is null) = (released_by is null))
);
create index quarantined_result_by_time on quarantined_result (project, found_at desc);

-- A result in quarantine stays where it was, so that nothing takes its place before it is released: whoever
-- reads passes over it, and whoever writes waits for its row, and leaves it.
alter table action_result add column quarantined boolean not null default false;
alter table cache_entry add column quarantined boolean not null default false;

alter table cache_entry
  drop constraint a_tool_of_an_entry_is_known,
  add constraint a_tool_of_an_entry_is_known
    check (tool in ('bazel', 'ccache', 'sccache', 'gradle', 'turborepo', 'nx', 'dune', 'results'));
