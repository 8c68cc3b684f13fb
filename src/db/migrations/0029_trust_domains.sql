-- What the farm trusts: results of `protected` are signed by its key, and a pull request's domain says of
-- which repository: `pr/7@owner/name`.

alter table action_result
  -- Who executed it; null for clients' results, and for those from before this column.
  add column worker text,
  -- Signed over all that the row says of the result. Null where the domain is not signed.
  add column key_id text,
  add column signature bytea,
  -- It was there before the farm signed; it was signed as it was found.
  add column adopted boolean not null default false,
  add constraint a_signature_names_its_key check ((key_id is null) = (signature is null)),
  add constraint a_worker_executes check (worker is null or execution_id is not null),
  drop constraint a_domain_is_protected_or_a_pull_request_or_a_user,
  add constraint a_domain_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+(@[A-Za-z0-9._/-]{1,200})?|user/[A-Za-z0-9._@+:-]{1,64})$');

alter table graph
  drop constraint a_domain_is_protected_or_a_pull_request_or_a_user,
  add constraint a_domain_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+(@[A-Za-z0-9._/-]{1,200})?|user/[A-Za-z0-9._@+:-]{1,64})$');

alter table commit_index
  drop constraint a_domain_of_an_index_is_protected_or_a_pull_request_or_a_user,
  add constraint a_domain_of_an_index_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+(@[A-Za-z0-9._/-]{1,200})?|user/[A-Za-z0-9._@+:-]{1,64})$');

-- Results from before the farm signed: those made until `before`. A server signs them once, when it starts.
create table result_adoption (
  is_the_only_one boolean primary key default true check (is_the_only_one),
  before timestamptz not null,
  done_at timestamptz,
  key_id text,
  results bigint,
  constraint an_adoption_that_is_done_says_by_whom
    check ((done_at is null) = (key_id is null) and (done_at is null) = (results is null))
);
insert into result_adoption (before) values (now());
