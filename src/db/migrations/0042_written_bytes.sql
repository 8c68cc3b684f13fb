-- How much each principal has written into each project on a day (UTC), over all servers.
create table written_bytes (
  principal text not null,
  project   text not null,
  day       date not null,
  bytes     bigint not null,
  primary key (principal, project, day)
);
-- Serves forgetting.
create index written_bytes_by_day on written_bytes (day);
