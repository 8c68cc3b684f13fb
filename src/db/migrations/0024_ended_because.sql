-- An operation may be ended by the farm itself. Why, for its client, whichever server that asks; null when
-- somebody wanted it ended.

alter table operation
  add column ended_because text,
  add constraint what_the_farm_ends_is_cancelled check (ended_because is null or cancelled_at is not null);
