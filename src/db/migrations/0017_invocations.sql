-- What build tools ask for, told by the metadata of their calls (REv2's RequestMetadata).

-- One go of a build tool. Known from the first call or build event that names it.
create table invocation (
  project             text not null,
  id                  text not null,
  correlated_id       text not null default '',
  principal           text not null,
  tool_name           text not null default '',
  tool_version        text not null default '',
  first_seen_at       timestamptz not null,
  last_seen_at        timestamptz not null,
  -- A person wants it ended: what it waits for is cancelled, and what it asks for from now on refused.
  cancelled_at        timestamptz,
  cancelled_by        text,
  primary key (project, id),

  constraint an_invocation_is_seen_in_order check (last_seen_at >= first_seen_at),
  constraint who_cancels_has_a_name check ((cancelled_at is null) = (cancelled_by is null))
) with (fillfactor = 70);

-- Serves the list of invocations, the newest first.
create index invocation_by_time on invocation (first_seen_at desc, id);
-- Serves retention.
create index invocation_by_last_seen on invocation (last_seen_at);

-- One answer to one Execute call: what REv2 calls an operation. Several may be served by one execution.
create table operation (
  id                  uuid primary key,
  execution_id        uuid not null,
  project             text not null,
  invocation          text not null,
  principal           text not null,
  action_digest       text not null,
  target_id           text not null default '',
  action_mnemonic     text not null default '',
  configuration_id    text not null default '',
  -- Whether another one had put the execution into the queue.
  joined              boolean not null,
  requested_at        timestamptz not null,
  -- Somebody listens, or did a moment ago, until then. Renewed by the server that holds the stream.
  watched_until       timestamptz not null,
  -- By CancelOperation, by leaving, or by a person.
  cancelled_at        timestamptz
) with (fillfactor = 70);

create index operation_by_execution on operation (execution_id);
create index operation_by_invocation on operation (project, invocation, requested_at, id);
-- Serves looking for operations that nobody waits for any more.
create index operation_watched on operation (watched_until) where cancelled_at is null;

-- What the action cache answered to an invocation: once for each action, the last answer.
create table cache_lookup (
  project             text not null,
  invocation          text not null,
  action_digest       text not null,
  target_id           text not null default '',
  action_mnemonic     text not null default '',
  configuration_id    text not null default '',
  hit                 boolean not null,
  looked_up_at        timestamptz not null,
  primary key (project, invocation, action_digest)
);

-- Two more things that somebody may be allowed to do: have actions executed, and write what caches give to others.
alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb in
  ('*', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise', 'prioritise',
   'clone', 'report', 'define', 'sign', 'execute', 'cache', 'administer'));
