-- Anybody may begin to sign in, so a row for each beginning let strangers use up all that was kept for them.
-- What an attempt needs is in the browser's cookie; only states that somebody came back with are kept.
drop table sign_in_attempt;

create table used_sign_in_state (
  -- SHA-256 of the state.
  state_hash bytea primary key,
  expires_at timestamptz not null,
  constraint a_used_state_is_kept_as_a_sha256 check (octet_length(state_hash) = 32)
);

create index used_sign_in_state_by_end on used_sign_in_state (expires_at);
