-- How long a graph was over before somebody made it go on: what people let lie is none of its time.
alter table graph
  add column idle_ms bigint not null default 0,
  add constraint a_graph_is_idle_for_some_time check (idle_ms >= 0);
