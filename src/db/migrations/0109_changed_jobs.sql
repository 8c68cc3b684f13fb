-- works-with: 108
-- Serves "what changed since version N", for N from 1: a job that never changed has version 1, and is not in it.
-- The index of all jobs began with the graph, as the primary key does. While a graph has a few jobs, both cost the same, so
-- the check that edges have jobs was sometimes planned with it, and then read all jobs of a large graph for each edge.
drop index job_by_version;
create index job_changed on job (graph_id, version) where version > 1;
