-- How many results each artifact has, and how many iterations they rest on. Comparisons ask for both of a hundred artifacts
-- each time: to count sixty thousand results takes longer than to read what is compared.
create table benchmark_measured (
  artifact_id int primary key references benchmark_artifact (id),
  results int not null check (results > 0),
  iterations int not null check (iterations >= results)
);
insert into benchmark_measured (artifact_id, results, iterations)
select artifact_id, count(*), sum(iterations) from benchmark_result group by artifact_id;

-- Kept by the database, in the statement that stores results, whoever stores them. Results stay (0056), so that counts only grow.
create function count_new_results() returns trigger language plpgsql as $$
begin
  insert into benchmark_measured as known (artifact_id, results, iterations)
  select artifact_id, count(*), sum(iterations) from stored group by artifact_id order by artifact_id
  on conflict (artifact_id) do update
  set results = known.results + excluded.results, iterations = known.iterations + excluded.iterations;
  return null;
end $$;
create trigger new_results_are_counted after insert on benchmark_result
  referencing new table as stored for each statement execute function count_new_results();

create function count_more_iterations() returns trigger language plpgsql as $$
begin
  update benchmark_measured as known set iterations = known.iterations + more.iterations
  from (
    select artifact_id, sum(iterations) as iterations
    from (select artifact_id, iterations from stored union all select artifact_id, -iterations from before) as change
    group by artifact_id
  ) as more
  where more.artifact_id = known.artifact_id and more.iterations <> 0;
  return null;
end $$;
create trigger more_iterations_are_counted after update on benchmark_result
  referencing new table as stored old table as before for each statement execute function count_more_iterations();
