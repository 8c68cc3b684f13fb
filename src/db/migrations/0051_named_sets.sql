-- Sets of graphs that somebody named when they submitted: the first graph of a name begins its set.

create table named_set (
  name text primary key,
  -- The graph after which the set is named, as in graph.set_id.
  id uuid not null,
  named_by text not null,
  named_at timestamptz not null default now(),
  constraint a_set_has_one_name unique (id),
  -- Its name is taken before its first graph is stored, so that two submissions at once make one set.
  constraint a_named_set_begins_with_a_graph foreign key (id) references graph deferrable initially deferred,
  constraint a_set_name_is_short check (length(name) between 1 and 128)
);
