-- Alarms of the benchmark lab that somebody outside is to hear of: written in the transaction that found them, sent later.
create table benchmark_alarm (
  id uuid primary key,
  -- What is sent, as JSON.
  body jsonb not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz,
  give_up_at timestamptz not null,
  -- Why the last try failed.
  problem text,
  created_at timestamptz not null,
  constraint a_pending_alarm_has_a_next_try check ((state = 'pending') = (next_at is not null))
);
create index benchmark_alarm_due on benchmark_alarm (next_at) where state = 'pending';
create index benchmark_alarm_created on benchmark_alarm (created_at);
