-- breaks-older-servers: their list of caches cannot read entries of a tool that they do not know
-- Content by URI and qualifiers: the Remote Asset API.
alter table cache_entry
  drop constraint a_tool_of_an_entry_is_known,
  add constraint a_tool_of_an_entry_is_known
    check (tool in
      ('bazel', 'ccache', 'sccache', 'gradle', 'turborepo', 'nx', 'gocache', 'remote-asset', 'dune',
       'results'));
