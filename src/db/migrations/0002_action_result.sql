-- What came of an action, per project and trust domain. Only the server writes here,
-- after it has checked the lease and that all blobs are in the store.
create table action_result (
  project text not null,
  domain text not null,
  -- hash/size, as digestKey writes it
  action_digest text not null,
  -- build.bazel.remote.execution.v2.ActionResult, binary
  result bytea not null,
  execution_id uuid not null,
  attempt integer not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (project, domain, action_digest),
  constraint a_domain_is_protected_or_a_pull_request_or_a_user
    check (domain ~ '^(protected|pr/[0-9]+|user/[A-Za-z0-9._-]{1,64})$'),
  constraint an_action_digest_is_a_hash_and_a_size
    check (action_digest ~ '^[0-9a-f]{64}/[0-9]+$'),
  constraint attempts_are_counted_from_one check (attempt >= 1),
  constraint a_result_is_not_used_before_it_is_made check (last_used_at >= created_at)
);

-- Eviction asks for what was unused longest.
create index action_result_by_last_use on action_result (last_used_at);
