-- What somebody may do so many times within an hour, whichever server hears of it. One row for each, used again.
create table hourly_count (
  what  text not null,
  who   text not null,
  -- The hour begins with what was counted first.
  since timestamptz not null default now(),
  count integer not null default 1,
  primary key (what, who),
  constraint what_was_counted_was_done check (count > 0)
);
-- Serves forgetting.
create index hourly_count_by_start on hourly_count (since);

-- Granaries that have a result in quarantine hear of it when their next build starts: each change has a version.
-- Whoever writes one holds the project's lock, so that within a project a later version is never seen before an earlier one.
create sequence quarantine_version;
alter table quarantined_result add column version bigint not null default nextval('quarantine_version');
create index quarantined_result_by_version on quarantined_result (project, version);
