-- How often caches had what was requested, by hour. Servers count in memory and add their counts every few seconds.

create table cache_use (
  project text not null,
  -- `actions`: results of actions of build tools over gRPC. Others: the tool of an HTTP cache.
  kind    text not null,
  hour    timestamptz not null,
  hits    bigint not null,
  misses  bigint not null,
  primary key (hour, kind, project),
  constraint an_hour_is_full check (hour = date_trunc('hour', hour, 'UTC')),
  constraint hits_and_misses_are_counted check (hits >= 0 and misses >= 0 and hits + misses > 0)
);

-- What is known of the time before. A row of `cache_lookup` is the last lookup of an action in an invocation.
insert into cache_use (project, kind, hour, hits, misses)
select project, 'actions', date_trunc('hour', looked_up_at, 'UTC'),
       count(*) filter (where hit), count(*) filter (where not hit)
from cache_lookup
group by 1, 3;
