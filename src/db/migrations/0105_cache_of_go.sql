-- breaks-older-servers: their list of caches cannot read entries of a tool that they do not know
-- Entries of Go's build cache (`grange gocacheprog`).
alter table cache_entry
  drop constraint a_tool_of_an_entry_is_known,
  add constraint a_tool_of_an_entry_is_known
    check (tool in
      ('bazel', 'ccache', 'sccache', 'gradle', 'turborepo', 'nx', 'gocache', 'dune', 'results'));
