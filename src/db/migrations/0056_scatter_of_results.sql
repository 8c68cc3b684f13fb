-- How far a result's iterations lie apart, by metric: (greatest - least) / least; null where a metric was taken in fewer
-- than two iterations, or where nobody looked. Whether a count is deterministic is seen from it.
alter table benchmark_result add column scatter float4[];

-- R13: a result is what its iterations make it. It may gain iterations, and then only become what they say; nothing else
-- of it changes, and it stays.
create function refuse_to_change_results() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
     and (new.artifact_id, new.case_id, new.environment_id) = (old.artifact_id, old.case_id, old.environment_id)
     and new.iterations > old.iterations
     and new.iterations = (
       select count(*) from benchmark_collection
       where artifact_id = new.artifact_id and case_id = new.case_id and environment_id = new.environment_id)
     and not exists (
       select from unnest(new.least) with ordinality as figure (value, ordinal)
       where value is not null and value not in (
         select sample[figure.ordinal] from benchmark_collection
         where artifact_id = new.artifact_id and case_id = new.case_id and environment_id = new.environment_id
           and sample[figure.ordinal] is not null))
  then
    return new;
  end if;
  raise exception 'measurements are append-only: % of % refused', tg_op, tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger measurements_stay before update or delete on benchmark_result
  for each row execute function refuse_to_change_results();
