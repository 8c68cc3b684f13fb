-- Who may read a repository can follow the permission at its forge.

-- Rights to read for a limited time, in addition to grants: their source renews them.
create table temporary_right (
  principal text not null,
  -- The name of one repository, not a pattern.
  repository text not null,
  -- Where the right comes from, such as `github`.
  source text not null,
  given_at timestamptz not null default now(),
  until timestamptz not null,
  primary key (principal, repository, source),
  constraint a_temporary_right_is_for_one_repository check (repository <> '' and position('*' in repository) = 0)
);

-- The account of a principal at a kind of forge.
create table forge_account (
  principal text not null,
  kind text not null,
  -- As `accountOf` of the forge spells it.
  account text not null,
  -- The forge's own id of the account, when it was first read: another account with the same name gets nothing.
  account_id text,
  linked_by text not null,
  linked_at timestamptz not null,
  primary key (principal, kind)
);

-- The last answer of a forge for a principal and a repository.
create table forge_reading (
  repository text not null references forge_repository on delete cascade,
  principal text not null,
  permission text not null,
  checked_at timestamptz not null,
  primary key (repository, principal),
  constraint a_permission_is_known
    check (permission in ('admin', 'maintain', 'write', 'triage', 'read', 'none'))
);
