-- What the HTTP caches of build tools keep: names for blobs of the CAS.
create table cache_entry (
  project       text not null,
  tool          text not null,
  -- As the tool's rules make it of the path; of a team's, it begins with the team.
  key           text not null,
  -- hash/size, as digestKey writes it. When that blob is gone, the entry is none.
  digest        text not null,
  size_bytes    bigint not null,
  -- What the tool wants to hear again beside the bytes.
  attributes    jsonb not null default '{}',
  -- Who wrote it.
  principal     text not null,
  created_at    timestamptz not null default now(),
  -- At most an hour behind.
  last_used_at  timestamptz not null default now(),
  primary key (project, tool, key),

  constraint a_tool_of_an_entry_is_known
    check (tool in ('bazel', 'ccache', 'sccache', 'gradle', 'turborepo', 'nx')),
  constraint an_entry_is_not_used_before_it_is_made check (last_used_at >= created_at)
);

-- Serves forgetting what was unused longest.
create index cache_entry_by_last_use on cache_entry (last_used_at);

-- Serves HTTP clients, who name an action by its hash alone.
create index action_result_by_hash
  on action_result (project, split_part(action_digest, '/', 1));
