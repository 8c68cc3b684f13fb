-- What principals are, how machines enrol, what grants may be narrowed to, and workers that are kept out.

-- What somebody is. A certificate may speak for machines only, never for a person.
alter table principal
  add column kind text not null default 'person',
  add constraint a_principal_is_of_a_kind
    check (kind in ('person', 'worker', 'collector', 'granary', 'ci', 'forge'));

alter table grant_rule
  -- Patterns, as for repositories; null for any. `pool` is what workers offer and jobs ask for under that name,
  -- `label` any other property that a job asks of its worker, as NAME=VALUE.
  add column pool text,
  add column label text,
  -- The greatest size class that jobs may ask for, and how many minutes of workers one graph may be expected to
  -- take. Null for no cap.
  add column size_class_cap integer,
  add column cost_cap double precision,
  add constraint a_size_class_cap_is_a_class check (size_class_cap >= 1),
  add constraint a_cost_cap_is_an_amount check (cost_cap >= 0),
  drop constraint the_same_grant_is_given_once,
  add constraint the_same_grant_is_given_once unique nulls not distinct
    (principal, verb, repository, branch, pool, label, priority_cap, size_class_cap, cost_cap, top),
  drop constraint a_verb_is_known,
  add constraint a_verb_is_known check (verb in
    ('*', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise', 'prioritise', 'clone',
     'report', 'define', 'sign', 'execute', 'cache', 'benchmark', 'measure', 'administer', 'work', 'secret', 'forge'));

-- Tokens that are good for one thing, once: a machine hands one in, and has a token of its own from then on.
create table enrolment (
  -- The beginning of the hash in hex, as for tokens.
  id text primary key,
  principal text not null references principal,
  hash bytea not null,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null,
  -- Until when the token that it is handed in for is good; null: until it is revoked.
  token_expires_at timestamptz,
  used_at timestamptz,
  -- Which token it was handed in for. Sent again with that one, it is answered as the first time.
  token_id text references token,
  revoked_at timestamptz,
  revoked_by text,
  constraint an_enrolment_is_named_by_its_hash check (id = left(encode(hash, 'hex'), 12)),
  constraint an_enrolment_is_kept_as_a_sha256 check (octet_length(hash) = 32),
  constraint a_used_enrolment_says_for_which_token check ((used_at is null) = (token_id is null)),
  constraint a_revoked_enrolment_says_by_whom check ((revoked_at is null) = (revoked_by is null))
);

-- What principals did as workers that no worker of ours does. Rows are few: most workers have none.
create table worker_offence (
  principal text primary key references principal,
  count integer not null,
  -- The last one.
  worker text not null,
  what text not null,
  at timestamptz not null,
  -- From then on nothing is taken from it, until somebody releases it.
  quarantined_at timestamptz,
  constraint offences_are_counted check (count >= 1)
);

-- Who a worker came as: only that one speaks for it, and for what it holds.
alter table worker add column principal text not null default 'anyone';
