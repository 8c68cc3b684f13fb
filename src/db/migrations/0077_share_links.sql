-- The right to make share links, with the roles that have it.
alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb ~ '^role:[a-z][a-z0-9-]{0,31}$' or verb in
  ('*', 'read', 'read-logs', 'read-sources', 'read-audit', 'share', 'submit', 'cancel', 'retrigger', 'waive',
   'activate', 'release', 'customise', 'prioritise', 'clone', 'report', 'define', 'sign', 'execute', 'cache', 'upload',
   'benchmark', 'measure', 'administer', 'work', 'secret', 'forge'));
alter table role drop constraint verbs_of_a_role_are_known;
alter table role add constraint verbs_of_a_role_are_known check (verbs <@ array[
  '*', 'read', 'read-logs', 'read-sources', 'read-audit', 'share', 'submit', 'cancel', 'retrigger', 'waive', 'activate',
  'release', 'customise', 'prioritise', 'clone', 'report', 'define', 'sign', 'execute', 'cache', 'upload',
  'benchmark', 'measure', 'administer', 'work', 'secret', 'forge']);
update role set verbs = array_append(verbs, 'share') where built_in and name in ('maintainer', 'operator');

-- Links by which callers without a right read one object for a limited time.
create table share_link (
  -- The beginning of the hash in hex, as of tokens.
  id text primary key,
  -- SHA-256 of the token; the token itself is stored nowhere.
  hash bytea not null,
  -- See src/core/shared-object.ts.
  object jsonb not null,
  -- Where the maker of the link must have the right to read the object; empty: on the whole farm.
  repository text not null,
  branch text not null,
  made_by text not null,
  made_at timestamptz not null,
  expires_at timestamptz not null,
  opened_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  constraint a_share_link_is_named_by_its_hash check (octet_length(hash) = 32 and id = left(encode(hash, 'hex'), 12)),
  constraint a_share_link_opens_a_known_kind check (object ->> 'kind' in ('log', 'output', 'comparison')),
  constraint a_share_link_is_over_in_90_days check (expires_at > made_at and expires_at <= made_at + interval '90 days'),
  constraint a_revoked_share_link_says_by_whom check ((revoked_at is null) = (revoked_by is null))
);
create index share_link_by_maker on share_link (made_by, made_at);
create index share_link_by_end on share_link (expires_at);
