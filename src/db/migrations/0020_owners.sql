-- Turns go round among owners first, then among what each of them has under way.

alter table execution
  -- Who it is done for: a principal. Empty where nobody said.
  add column owner text not null default '',
  -- src/execution/fair-lane.ts; 0 is where those before this column stay.
  add column owner_lane smallint not null default 0,
  -- What it is like, from the most to the least alike: src/execution/kin.ts.
  add column kin text[] not null default '{}';

drop index execution_leased;
create index execution_leased on execution (lane, owner_lane) where state = 'leased';

-- How long actions of one kin take, for the order of the queue. A mean in which the new counts for more.
create table expected_duration (
  project         text not null,
  kin             text not null,
  mean_ms         double precision not null,
  samples         integer not null,
  last_seen_at    timestamptz not null,
  primary key (project, kin),

  constraint an_expected_duration_is_no_less_than_nothing check (mean_ms >= 0),
  constraint an_expected_duration_has_samples check (samples >= 1)
) with (fillfactor = 70);

-- Up to where finished executions have been counted into it; one row.
create table expected_duration_mark (
  is_the_only_one boolean primary key default true check (is_the_only_one),
  counted_until   timestamptz not null
);
insert into expected_duration_mark (counted_until) values (now());

-- Workers that are to take nothing new, by a pattern of their names in which * stands for any characters.
create table drain (
  pattern         text primary key,
  reason          text not null,
  created_by      text not null,
  created_at      timestamptz not null,

  constraint a_drain_is_short check (length(pattern) between 1 and 128 and length(reason) <= 1000)
);
