-- breaks-older-servers: their list of caches cannot read entries of a tool that they do not know
-- Files of Maven's build cache extension.
alter table cache_entry
  drop constraint a_tool_of_an_entry_is_known,
  add constraint a_tool_of_an_entry_is_known
    check (tool in
      ('bazel', 'ccache', 'sccache', 'gradle', 'maven', 'turborepo', 'nx', 'gocache', 'remote-asset',
       'dune', 'results'));
