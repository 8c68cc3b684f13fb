-- People at the pages: who is signed in, and whom identity providers say that they are.

-- A browser that is signed in. Its cookie is known to the browser alone.
create table session (
  -- The beginning of the hash in hex: what people and pages name a session by, and no secret.
  id text primary key,
  -- SHA-256 of the cookie's value, whose 32 bytes are random.
  hash bytea not null,
  principal text not null references principal,
  -- Whose grants it has besides: principals that stand for the groups of its provider.
  groups text[] not null default '{}',
  -- The token that was pasted in: the session ends with it. Null when a provider vouched.
  token_id text references token,
  -- Who vouched. Null when a token was pasted in.
  issuer text,
  subject text,
  created_at timestamptz not null,
  -- Moved on at most once a minute.
  seen_at timestamptz not null,
  ends_at timestamptz not null,
  ended_at timestamptz,
  constraint a_session_is_named_by_its_hash check (id = left(encode(hash, 'hex'), 16)),
  constraint a_session_is_kept_as_a_sha256 check (octet_length(hash) = 32),
  constraint a_session_begins_with_a_token_or_an_identity
    check ((token_id is null) = (issuer is not null) and (issuer is null) = (subject is null))
);

-- Serves ending all sessions of somebody, and forgetting old ones.
create index session_of_principal on session (principal);
create index session_by_end on session (ends_at);

-- Somebody was sent to the identity provider and is not back. Deleted by the first who comes back with it.
create table sign_in_attempt (
  -- SHA-256 of the state; state, nonce and code verifier follow from a cookie that is not kept here.
  state_hash bytea primary key,
  return_to text not null,
  expires_at timestamptz not null,
  constraint a_state_is_kept_as_a_sha256 check (octet_length(state_hash) = 32)
);

create index sign_in_attempt_by_end on sign_in_attempt (expires_at);

-- A link that signs its holder in, once.
create table sign_in_code (
  hash bytea primary key,
  token_id text not null references token,
  expires_at timestamptz not null,
  constraint a_code_is_kept_as_a_sha256 check (octet_length(hash) = 32)
);

-- Whose name is whose: the first subject of a provider that came with a name holds it.
create table identity (
  issuer text not null,
  subject text not null,
  principal text not null unique references principal,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (issuer, subject)
);

-- Whose tokens of programs count besides our own, and for whom.
create table trusted_issuer (
  name text primary key,
  -- Compared as it is written with what tokens say of themselves.
  url text not null,
  audience text not null,
  -- A pattern in which * stands for any characters.
  subject text not null,
  principal text not null references principal,
  created_at timestamptz not null,
  created_by text not null,
  constraint a_trusted_issuer_has_a_plain_name check (name ~ '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$')
);
