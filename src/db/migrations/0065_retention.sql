-- How long graphs are kept, by repository and branch. Of the rules that fit, the one with the more specific branch holds.
create table retention_rule (
  -- A repository's name, or '*' for all.
  repository text not null,
  -- A pattern with stars, or '@protected' for protected branches.
  branch text not null,
  -- Null: for ever.
  keep_ms bigint,
  -- So many of each branch are kept however old they are.
  keep_newest integer not null,
  -- Older ones than the newest so many of a branch go however young they are. Null: any number is kept.
  most integer,
  set_by text not null,
  set_at timestamptz not null default now(),
  primary key (repository, branch),
  constraint a_retention_rule_is_of_something check (repository <> '' and branch <> ''),
  constraint graphs_are_kept_for_some_time check (keep_ms > 0),
  constraint kept_graphs_are_counted_from_zero check (keep_newest >= 0),
  constraint the_most_is_no_less_than_what_is_kept check (most >= keep_newest and most > 0)
);
insert into retention_rule (repository, branch, keep_ms, keep_newest, set_by) values
  ('*', '@protected', null, 0, 'grange'),
  ('*', '*', 180::bigint * 24 * 60 * 60 * 1000, 50, 'grange');

-- Labels that keep graphs whatever the rules say, such as for a legal hold.
create table retention_hold (
  graph_id uuid not null references graph,
  label text not null,
  why text,
  set_by text not null,
  set_at timestamptz not null default now(),
  primary key (graph_id, label),
  constraint a_hold_has_a_short_label check (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$')
);

-- For how long what is in no graph is kept. Rows only of what somebody set; null: for ever.
create table retention_age (
  kind text primary key,
  keep_ms bigint,
  set_by text not null,
  set_at timestamptz not null default now(),
  constraint a_retention_kind_is_known check (kind in ('executions', 'invocations', 'audit')),
  constraint what_is_aged_is_kept_for_some_time check (keep_ms > 0)
);

-- What was done to a graph is known after the graph is gone.
alter table audit_entry drop constraint audit_entry_graph_id_fkey;
create index audit_entry_by_time on audit_entry (at);

-- Serve the question who needs a graph, and the foreign keys when it is deleted.
create index run_by_source on run (cached_from_graph) where cached_from_graph is not null;
create index graph_by_branch on graph (repository, branch, number);
create index range_commit_by_graph on range_commit (graph_id) where graph_id is not null;
create index range_search_by_set on range_search (set_id) where set_id is not null;
create index provenance_subject_by_graph on provenance_subject (graph_id);
