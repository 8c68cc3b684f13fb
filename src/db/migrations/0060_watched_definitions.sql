-- Other repositories, at revisions, that branches have as the source of their definitions; and what was read there last.
create table watched_definitions (
  -- As a branch names it.
  repository text not null,
  rev text not null,
  -- Null until something was read.
  commit text,
  catalog text references catalog,
  -- Since when it is that commit, as far as the farm noticed.
  since timestamptz,
  -- When it is looked at next. A server that looks moves it first, so that one that dies loses its turn only.
  next_at timestamptz not null,
  -- For people: why it cannot be read at present.
  problem text,
  primary key (repository, rev),
  constraint what_was_read_is_whole check ((commit is null) = (catalog is null) and (commit is null) = (since is null))
);
