-- Says what a transaction has taken for granted, so as not to ask and wait for the answer. Where that does not
-- hold, all of it is undone as after a deadlock; who ran it does so again, and asks.
create function assume(holds boolean, what text) returns void language plpgsql as $$
begin
  if holds is not true then
    raise serialization_failure using message = 'it was assumed that ' || what;
  end if;
end $$;
