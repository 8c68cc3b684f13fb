-- Further runs of a job one after the other, for those who hunt a failure that comes and goes.

alter table job
  -- Runs of the series that are left, the one under way included; 0 outside of a series.
  add column runs_left integer not null default 0,
  -- How many the series has.
  add column runs_asked integer not null default 0,
  add constraint a_series_is_not_longer_than_asked check (runs_left between 0 and runs_asked);
