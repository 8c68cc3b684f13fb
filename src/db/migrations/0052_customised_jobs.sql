-- Serves lists of graphs, which count the jobs that somebody customised.
create index job_customised on job (graph_id) where patch is not null;
