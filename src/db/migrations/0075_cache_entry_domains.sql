-- Entries of build tools' caches lie in the trust domain of their writer (decision 119).
alter table cache_entry add column domain text;

-- Until now, one token with `cache` served trusted builds and pull requests alike, so an existing entry is only known
-- to be its writer's. On an open farm all callers are the same and write `protected`.
update cache_entry
set domain = case
  when exists (
    select from grant_rule
    where principal = 'anyone' and verb in ('*', 'administer') and repository = '*' and branch = '*'
  ) then 'protected'
  -- A name in quarantine stays hidden from all readers.
  when quarantined then 'protected'
  else 'user/' || principal
end;

alter table cache_entry
  alter column domain set not null,
  drop constraint cache_entry_pkey,
  -- Readers look for one name in two domains.
  add primary key (project, tool, key, domain),
  add constraint a_domain_of_an_entry_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+(@[A-Za-z0-9._/-]{1,200})?|user/[A-Za-z0-9._@+:-]{1,64})$');
