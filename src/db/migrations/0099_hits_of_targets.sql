-- works-with: 94
-- Serves the history of a target: builds in which all of its actions came from the cache.
-- Clients that name no targets (recc, ccache) have no rows in it.
create index cache_hit_by_target on cache_lookup (project, target_id, looked_up_at desc)
  where hit and target_id <> '';
