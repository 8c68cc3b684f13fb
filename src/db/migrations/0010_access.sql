-- Who may do what, and whose signature counts.

-- What tokens and grants are filed under. Made by its first token or grant, and never removed: the audit names it.
create table principal (
  name text primary key,
  created_at timestamptz not null default now(),
  constraint a_principal_has_a_plain_name check (name ~ '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$')
);

create table token (
  -- The beginning of the hash in hex: what a token is looked up and revoked by, and no secret.
  id text primary key,
  principal text not null references principal,
  -- SHA-256 of the token. Its 32 bytes are random: nothing slower is needed against guessing.
  hash bytea not null,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_by text,
  constraint a_token_is_named_by_its_hash check (id = left(encode(hash, 'hex'), 12)),
  constraint a_token_is_kept_as_a_sha256 check (octet_length(hash) = 32),
  constraint a_revoked_token_says_by_whom check ((revoked_at is null) = (revoked_by is null))
);

-- One right of a principal. Rights add up; no rule takes away what another gives.
create table grant_rule (
  id bigint generated always as identity primary key,
  principal text not null references principal,
  verb text not null,
  -- Patterns in which * stands for any characters.
  repository text not null default '*',
  branch text not null default '*',
  priority_cap integer,
  top boolean not null default false,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint a_verb_is_known check (verb in
    ('*', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise', 'prioritise',
     'clone', 'report', 'define', 'sign', 'administer')),
  constraint a_cap_is_a_priority check (priority_cap between -1000 and 1000),
  constraint the_same_grant_is_given_once
    unique nulls not distinct (principal, verb, repository, branch, priority_cap, top)
);

-- A farm begins open: who reaches it may do everything, until this rule is removed.
insert into principal (name) values ('anyone');
insert into grant_rule (principal, verb, top, created_by) values ('anyone', '*', true, 'grange');

-- Public halves of keys whose signatures count.
create table signing_key (
  -- The beginning of the SHA-256 of the public key, in hex.
  id text primary key,
  name text not null,
  -- Ed25519, 32 bytes.
  public_key bytea not null,
  trusted_at timestamptz not null,
  trusted_by text not null,
  -- Never trusted again: what was signed while somebody else held it cannot be told apart.
  revoked_at timestamptz,
  revoked_by text,
  constraint a_key_is_named_by_its_hash
    check (id = left(encode(sha256(public_key), 'hex'), 16)),
  constraint a_public_key_has_32_bytes check (octet_length(public_key) = 32),
  constraint a_revoked_key_says_by_whom check ((revoked_at is null) = (revoked_by is null))
);

-- Serves the rule that a name means one key at a time.
create unique index signing_key_in_use on signing_key (name) where revoked_at is null;

-- What somebody signed. A row proves nothing: each is verified with its key when it is read.
create table signature (
  kind text not null,
  -- The signed digest, not that of the catalog: priorities and deadlines are left out of it.
  digest text not null,
  key_id text not null references signing_key,
  signature bytea not null,
  signed_at timestamptz not null,
  signed_by text not null,
  primary key (kind, digest, key_id),
  constraint only_catalogs_are_signed check (kind in ('catalog')),
  constraint an_ed25519_signature_has_64_bytes check (octet_length(signature) = 64)
);

-- The highest priority that a job of the graph may reach, whatever its own is: the least of the caps that
-- held when it was submitted. Null for no cap.
alter table graph add column priority_cap integer;
