-- What is asked of size classes, what was chosen and why, and what earlier executions teach.

alter table execution
  -- `size_class` is the one chosen; these two are what may be chosen.
  add column least_size_class integer not null default 1,
  add column most_size_class integer,
  -- The timeout that was asked for; `timeout_ms` is what the attempt under way may take.
  add column asked_timeout_ms bigint,
  -- How often it was tried anew on a greater class. Those attempts do not count against the most that are lost.
  add column size_retries smallint not null default 0,
  -- Whether decisions are kept for it: more than one class could have been chosen.
  add column is_sized boolean not null default false,
  -- After how long of running a second run is begun on `hedge_size_class`.
  add column hedge_after_ms bigint,
  add column hedge_size_class integer,
  -- The execution that this one runs beside: whichever ends first ends both.
  add column hedge_of uuid references execution on delete cascade,
  -- Until what it came to was taken up, or is no longer wanted.
  add column hedge_is_open boolean not null default false,
  -- What it is, for people: its mnemonic and target.
  add column title text not null default '',
  add constraint execution_size_class_is_within_what_was_asked check (
    size_class >= least_size_class and (most_size_class is null or size_class <= most_size_class)),
  add constraint execution_only_hedges_are_open check (hedge_of is not null or not hedge_is_open),
  add constraint execution_hedges_on_a_class check ((hedge_after_ms is null) = (hedge_size_class is null));

-- Those from before asked for at least their class.
update execution set least_size_class = size_class;

create index execution_to_hedge on execution (started_at)
  where state = 'leased' and hedge_after_ms is not null;
-- One second run at a time; serves looking after them.
create unique index execution_hedge on execution (hedge_of) where hedge_is_open;
-- Serves deleting executions (the foreign key asks for each), and showing the second runs of one.
create index execution_second_run on execution (hedge_of) where hedge_of is not null;

alter table execution_attempt
  -- That of the worker, which may be greater than the one chosen. Null for those before this column.
  add column size_class integer,
  add column timeout_ms bigint,
  add column exit_code integer,
  add column user_ms bigint,
  add column system_ms bigint,
  add column peak_memory_bytes bigint;

-- What a worker gives one action, as far as it says; null: all of its machine.
alter table worker
  add column cpus double precision,
  add column memory_bytes bigint,
  add constraint worker_gives_cpus check (cpus > 0),
  add constraint worker_gives_memory check (memory_bytes > 0);

-- Size classes that operators declared, with workers or without: what they give, what they cost.
create table size_class (
  -- Properties that its workers offer, as canonical JSON; the most that fit count.
  platform        text collate "C" not null,
  size_class      integer not null,
  cpus            double precision,
  memory_bytes    bigint,
  -- Of a second of one slot, in whatever unit the farm's people count; null: its number.
  price           double precision,
  -- What an autoscaler may start.
  least_workers   integer not null default 0,
  most_workers    integer,
  slots_per_worker integer not null default 1,
  declared_by     text not null,
  declared_at     timestamptz not null,
  primary key (platform, size_class),

  constraint size_class_is_positive check (size_class between 1 and 1000000),
  constraint size_class_gives_cpus check (cpus > 0),
  constraint size_class_gives_memory check (memory_bytes > 0),
  constraint size_class_has_a_price check (price >= 0),
  constraint size_class_workers_are_a_range check (least_workers >= 0 and most_workers >= least_workers),
  constraint size_class_has_slots check (slots_per_worker >= 1)
);

-- The farm's choice of strategy and its settings; one row.
create table size_class_settings (
  is_the_only_one boolean primary key default true check (is_the_only_one),
  settings        jsonb not null,
  changed_by      text not null,
  changed_at      timestamptz not null
);

-- Each choice of a class, with what was known and what else could have been chosen.
create table size_class_decision (
  execution_id    uuid not null references execution on delete cascade,
  -- 1 is the first; each retry and each second run has the next.
  number          integer not null,
  purpose         text not null,
  -- src/size-classes/key.ts; the one that the choice went by.
  project         text not null,
  domain          text not null,
  key             text not null,
  strategy        text not null,
  decided_at      timestamptz not null,
  size_class      integer not null,
  -- Whether a greater class may take it when it has nothing of its own.
  is_exact        boolean not null,
  expected_ms     bigint not null,
  timeout_ms      bigint not null,
  -- In [0, 1); from the execution's id, so that the choice can be made again.
  draw            double precision not null,
  -- Where the strategy asks for one more run after this one succeeded, and what its next iteration starts from.
  background_size_class integer,
  page_rank       jsonb,
  -- src/size-classes/choice.ts
  reason          jsonb not null,
  alternatives    jsonb not null,
  primary key (execution_id, number),

  constraint size_class_decision_purpose_is_known check (purpose in ('first', 'retry', 'hedge', 'background'))
);
create index size_class_decision_by_key on size_class_decision (project, domain, key, decided_at desc);
create index size_class_decision_by_time on size_class_decision (decided_at);

-- What executions of a key came to on a class: the last ones, oldest first. One row, so that it is read at once.
create table size_class_history (
  project         text not null,
  domain          text not null,
  key             text not null,
  size_class      integer not null,
  -- src/size-classes/past-run.ts
  runs            jsonb not null,
  last_run_at     timestamptz not null,
  primary key (project, domain, key, size_class),

  constraint size_class_history_is_a_list check (jsonb_typeof(runs) = 'array' and jsonb_array_length(runs) between 1 and 32)
) with (fillfactor = 70);
create index size_class_history_by_time on size_class_history (last_run_at);

-- What is true of a key whatever the class.
create table size_class_key (
  project         text not null,
  domain          text not null,
  key             text not null,
  title           text not null,
  -- When the greatest class failed last, and how often since the last success.
  last_failure_at timestamptz,
  failures_in_a_row integer not null default 0,
  -- From which the next power iteration starts (strategy `pagerank`).
  page_rank       jsonb,
  last_seen_at    timestamptz not null,
  primary key (project, domain, key)
) with (fillfactor = 70);
create index size_class_key_by_time on size_class_key (last_seen_at);

-- Executions that are over, and of which the histories do not know yet. Written in the transaction that ends them.
-- No foreign key: checking it would be most of its price, and one whose execution is gone teaches nothing.
create table size_class_lesson (
  execution_id    uuid primary key
);
