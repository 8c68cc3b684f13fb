-- Serves earlier actions of the same target: since when it fails, why it was not in the cache, and how it went before.
-- Clients that name no targets (recc, ccache) have no rows in it.
create index operation_by_target on operation (project, target_id, action_mnemonic, requested_at desc)
  where target_id <> '';
-- Serves the history of a target of builds that send events.
create index build_target_by_label on build_target (project, label) where aspect = '';
